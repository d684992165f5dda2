package policy

import "os"

// ownedAlone knows of no rights here: who may write a file is in its access
// control list.
func ownedAlone(os.FileInfo) bool { return true }

// sharedPolicies is where a host has policies for all its users.
func sharedPolicies(environ []string) string {
	return below(variable(environ, "ProgramData"), "retry", "policies")
}

// ownPolicies is the folder of a user's own settings.
func ownPolicies(environ []string) string { return variable(environ, "AppData") }
