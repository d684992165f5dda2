package cli

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/engine"
)

// No variable that the program sets for a command is the variable of a flag, but
// for the idempotency key, and those that are meant for the outer run stay there.
func TestVariablesOfCommandsAreNoFlags(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("env is Unix's")
	}
	bin := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, "retry")); err != nil {
		t.Fatal(err)
	}
	const run = `retry -q -n 2 --base 1ms --deadline 1m --retry-after auto --rotate a-b=x,y --before-retry env ` +
		`--after-give-up env --fallback env -- sh -c 'env; : {a-b}; exit 3'`
	cmd := command(t, "sh", "-c", run)
	cmd.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + bin}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	set := map[string]bool{"RETRY_COPY": true} // of a hedged attempt
	for line := range strings.Lines(string(out)) {
		if name, _, ok := strings.Cut(line, "="); ok && strings.HasPrefix(name, "RETRY_") {
			set[name] = true
		}
	}
	for _, name := range []string{
		"RETRY_ATTEMPT", "RETRY_DEPTH", "RETRY_LAST_REASON", "RETRY_EXPIRES_AT", "RETRY_USE_A_B",
		"RETRY_HOOK", "RETRY_RESULT_EXIT", "RETRY_RESULT_SIGNAL", "RETRY_RESULT_REASON", "RETRY_RESULT_VERDICT",
		"RETRY_RESULT_RULE",
		"RETRY_RESULT_OUTCOME", "RETRY_NEXT_DELAY_MS", "RETRY_TAIL_STDOUT", "RETRY_TAIL_STDERR",
	} {
		if !set[name] {
			t.Errorf("no command saw %s; they saw %v", name, slices.Sorted(maps.Keys(set)))
		}
	}
	table := option.Table()
	for i := range table {
		if name := table[i].Variable(); table[i].HasVariable() && set[name] && name != "RETRY_IDEMPOTENCY_KEY" {
			t.Errorf("%s is set for commands, and a retry within would take it for --%s", name, table[i].Name())
		}
	}
	for name := range set {
		if !engine.SetsVariable(name) {
			t.Errorf("%s is not known to be the program's own", name)
		}
	}
}
