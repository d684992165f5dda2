package cli

// This file holds the pages on policies, hooks and rehearsals to what the
// program does.

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// recipe is a shell block of docs/hooks.md, with what surrounds it in the test.
var recipe = regexp.MustCompile("(?s)\n```sh\n(.*?)```")

// The recipes of docs/hooks.md are run as they stand, but for the addresses,
// which a server on loopback answers, and the programs that stand in for a
// container, a build and a deployment.
func TestHookRecipes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the recipes are for a POSIX shell")
	}
	for _, tool := range []string{"curl", "jq"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	recipes := recipe.FindAllStringSubmatch(page(t, "hooks.md"), -1)
	want := []func(*testing.T, *kitchen){
		func(t *testing.T, k *kitchen) {
			k.run(t, "exit 0", 0)
			k.run(t, "exit 7", 7)
			k.received(t, `^GET /ping/0\?rid=[0-9a-f-]{36} $`, `^GET /ping/7\?rid=[0-9a-f-]{36} $`)
		},
		func(t *testing.T, k *kitchen) {
			k.run(t, `echo '"quoted" $(touch injected)' >&2; exit 3`, 3)
			k.received(t, `^POST /chat \{\s*"text": "./deploy.sh failed 3 times: exit 3"\s*\}\s*$`)
		},
		func(t *testing.T, k *kitchen) {
			if out := k.run(t, "test $RETRY_ATTEMPT = 3", 0); strings.Count(out, "docker logs --tail 20 db") != 2 {
				t.Errorf("the log was not shown before each retry:\n%s", out)
			}
		},
		func(t *testing.T, k *kitchen) {
			k.run(t, `test ! -e ../build/dirt || exit 9; touch ../build/dirt; test $RETRY_ATTEMPT = 3`, 0)
		},
		func(t *testing.T, k *kitchen) {
			k.write(t, "rates.json", "old")
			k.answer(http.StatusServiceUnavailable, "busy")
			k.run(t, "", 0)
			k.holds(t, "rates.json", "old")
			k.answer(http.StatusOK, "new")
			k.run(t, "", 0)
			k.holds(t, "rates.json", "new")
		},
		func(t *testing.T, k *kitchen) {
			k.answer(http.StatusOK, "the whole image")
			k.cut = 1
			k.run(t, "", 0)
			k.holds(t, "image.iso", "the whole image")
		},
		func(t *testing.T, k *kitchen) {
			if out := k.run(t, `echo "npm $*"; test "$2" = --prefer-offline`,
				0); out != "npm ci\nnpm ci --prefer-offline\n" {
				t.Errorf("npm was called as\n%s", out)
			}
		},
	}
	if len(recipes) != len(want) {
		t.Fatalf("docs/hooks.md has %d recipes, the test %d", len(recipes), len(want))
	}
	for i, check := range want {
		t.Run(fmt.Sprint(i+1), func(t *testing.T) { check(t, newKitchen(t, recipes[i][1])) })
	}
}

// kitchen runs one recipe.
type kitchen struct {
	recipe string
	dir    string
	bin    string
	server *httptest.Server

	mu     sync.Mutex
	asked  []string
	status int
	body   string
	cut    int // answers that break off in the middle
}

func newKitchen(t *testing.T, text string) *kitchen {
	k := &kitchen{dir: t.TempDir(), bin: t.TempDir(), status: http.StatusOK}
	k.server = httptest.NewServer(k)
	t.Cleanup(k.server.Close)
	export := regexp.MustCompile(`(?m)^export ([A-Z]+)_URL=https://\S+`)
	k.recipe = export.ReplaceAllStringFunc(text, func(line string) string {
		name := strings.ToLower(export.FindStringSubmatch(line)[1])
		head, _, _ := strings.Cut(line, "=")
		return head + "=" + k.server.URL + "/" + name
	})
	if strings.Contains(k.recipe, "https://") {
		t.Fatalf("an address is left:\n%s", k.recipe)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(k.bin, "retry")); err != nil {
		t.Fatal(err)
	}
	k.write(t, filepath.Join(k.bin, "docker"), "#!/bin/sh\necho \"docker $*\"\n")
	for _, dir := range []string{"build", "src"} {
		if err := os.Mkdir(filepath.Join(k.dir, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return k
}

// ServeHTTP notes who asks for what.
func (k *kitchen) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.asked = append(k.asked, r.Method+" "+r.URL.String()+" "+string(body))
	if k.cut > 0 {
		k.cut--
		w.Header().Set("Content-Length", strconv.Itoa(len(k.body)))
		_, _ = io.WriteString(w, k.body[:len(k.body)/2])
		return
	}
	if k.status != http.StatusOK {
		w.WriteHeader(k.status)
		return
	}
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(k.body))
}

func (k *kitchen) answer(status int, body string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.status, k.body = status, body
}

// run runs the recipe, with script as every program of its own, and returns
// what both streams show.
func (k *kitchen) run(t *testing.T, script string, code int) string {
	t.Helper()
	for _, name := range []string{"backup.sh", "deploy.sh", "migrate.sh"} {
		k.write(t, filepath.Join(k.dir, name), "#!/bin/sh\n"+script+"\n")
	}
	k.write(t, filepath.Join(k.bin, "npm"), "#!/bin/sh\n"+script+"\n")
	k.write(t, filepath.Join(k.bin, "make"), "#!/bin/sh\ncd src\n"+script+"\n")
	cmd := command(t, "sh", "-c", k.recipe)
	cmd.Dir = k.dir
	cmd.Env = append(os.Environ(), "PATH="+k.bin+string(os.PathListSeparator)+os.Getenv("PATH"), "RETRY_CONFIG=",
		"RETRY_BASE=1ms", "RETRY_QUIET=true")
	out, _ := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Fatalf("exit %d, want %d:\n%s\n%s", got, code, k.recipe, out)
	}
	if _, err := os.Stat(filepath.Join(k.dir, "injected")); err == nil {
		t.Error("data became a command")
	}
	return string(out)
}

func (k *kitchen) write(t *testing.T, name, text string) {
	t.Helper()
	if !filepath.IsAbs(name) {
		name = filepath.Join(k.dir, name)
	}
	if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

func (k *kitchen) holds(t *testing.T, name, want string) {
	t.Helper()
	if got, err := os.ReadFile(filepath.Join(k.dir, name)); string(got) != want {
		t.Errorf("%s holds %q, want %q (%v)", name, got, want, err)
	}
}

func (k *kitchen) received(t *testing.T, patterns ...string) {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, pattern := range patterns {
		if i >= len(k.asked) || !regexp.MustCompile(pattern).MatchString(k.asked[i]) {
			t.Errorf("request %d does not match %s: %q", i, pattern, k.asked)
		}
	}
	if len(k.asked) != len(patterns) {
		t.Errorf("%d requests: %q", len(k.asked), k.asked)
	}
}
