package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// unitBlock is a unit of docs/systemd.md, with its file in a comment.
var unitBlock = regexp.MustCompile("(?s)```ini\n# /etc/systemd/system/([^\n]+)\n(.*?)```")

// TestUnits has systemd read the units that the packages hold and those of the page, with
// this program in place of the installed one.
func TestUnits(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	units := map[string]string{}
	for _, name := range []string{"retry-redrive.service", "retry-redrive.timer"} {
		unit, err := os.ReadFile(filepath.Join("..", "docs", "systemd", name))
		if err != nil {
			t.Fatal(err)
		}
		units[name] = string(unit)
	}
	for _, block := range unitBlock.FindAllStringSubmatch(page(t, "systemd.md"), -1) {
		units[block[1]] = block[2]
	}
	if len(units) != 4 {
		t.Fatalf("%d units found", len(units))
	}
	dir := t.TempDir()
	args := []string{analyze, "verify", "--man=no"}
	for name, unit := range units {
		args = append(args, filepath.Join(dir, name))
		unit = strings.NewReplacer("ExecStart=retry", "ExecStart="+strconv.Quote(self),
			"/usr/local/bin/import-customers", "true", "User=import\n", "").Replace(unit)
		if err := os.WriteFile(args[len(args)-1], []byte(unit), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := command(t, args...).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
}
