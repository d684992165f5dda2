package process

import (
	"os"
	"path/filepath"
	"testing"
)

func TestOOMKills(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		groups string
		files  map[string]string
		want   int
	}{
		"version 2": {"0::/a/b\n",
			map[string]string{"a/b/memory.events": "low 0\noom 3\noom_kill 2\noom_group_kill 0\n",
				"memory.events": "oom_kill 9\n"}, 2},
		"none": {"0::/a\n",
			map[string]string{"a/memory.events": "oom 1\noom_kill 0\n", "memory.events": "oom_kill 9\n"}, 0},
		"the path of the host": {"0::/docker/x\n", map[string]string{"memory.events": "oom_kill 1\n"}, 1},
		"version 1": {"5:devices:/\n4:cpu,memory:/a:b\n0::/\n",
			map[string]string{"memory/a:b/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n"}, 4},
		"both": {"4:memory:/a\n0::/\n",
			map[string]string{"memory/a/memory.oom_control": "oom_kill 1\n", "unified/x": ""}, 1},
		"none in version 1": {"4:memory:/a\n0::/a\n",
			map[string]string{"memory/a/memory.oom_control": "oom_kill 0\n",
				"unified/a/memory.events": "oom_kill 3\n"}, 3},
		"a kernel without": {"0::/a\n", map[string]string{"a/memory.events": "oom 1\n"}, 0},
		"no groups":        {"", nil, 0},
		"something else":   {"x\n::\n0::\n", nil, 0},
		"no number":        {"0::/\n", map[string]string{"memory.events": "oom_kill many\n"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			mount := t.TempDir()
			for file, text := range c.files {
				path := filepath.Join(mount, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if got := oomKills(c.groups, mount); got != c.want {
				t.Errorf("%d; want %d", got, c.want)
			}
		})
	}
}
