package policy

import (
	"os"

	"github.com/retrysh/retry/cli/option"
)

// ownedAlone does not read access control lists.
func ownedAlone(os.FileInfo) bool { return true }

// sharedPolicies is where a host has policies for all its users.
func sharedPolicies(environ []string) string {
	return below(option.Variable(environ, "ProgramData"), "retry", "policies")
}

// ownPolicies is the folder of a user's own settings.
func ownPolicies(environ []string) string { return option.Variable(environ, "AppData") }
