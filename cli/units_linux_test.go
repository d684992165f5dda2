package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestUnits has systemd read the units that the packages hold, with this program
// in place of the installed one.
func TestUnits(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	args := []string{analyze, "verify", "--man=no"}
	for _, name := range []string{"retry-redrive.service", "retry-redrive.timer"} {
		unit, err := os.ReadFile(filepath.Join("..", "docs", "systemd", name))
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, filepath.Join(dir, name))
		unit = []byte(strings.ReplaceAll(string(unit), "ExecStart=retry", "ExecStart="+self))
		if err := os.WriteFile(args[len(args)-1], unit, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := command(t, args...).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
}
