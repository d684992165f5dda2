//go:build unix

package cli

// This file runs install.sh under each shell that is installed, against a web
// server on loopback that serves a release of what stands here.

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// release is a directory of files with an address.
type release struct {
	*httptest.Server
	mu      sync.Mutex        // guards files
	files   map[string][]byte // by path
	hanging chan struct{}     // gets a value when a file that never ends is asked for
	done    chan struct{}
}

// archiveName is the name that goreleaser.yaml gives to this system's archive.
func archiveName(t *testing.T) string {
	switch runtime.GOOS + "/" + runtime.GOARCH {
	case "linux/amd64", "linux/arm64", "linux/386", "linux/riscv64":
		return "retry_linux_" + runtime.GOARCH + ".tar.gz"
	case "darwin/amd64", "darwin/arm64":
		return "retry_darwin_universal.tar.gz"
	}
	t.Skipf("there is no release for %s/%s", runtime.GOOS, runtime.GOARCH)
	return ""
}

// releaseFiles are what goreleaser.yaml packs: the program, built, and its pages.
var releaseFiles = sync.OnceValues(func() (map[string][]byte, error) {
	dir, err := os.MkdirTemp("", "retry-install-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := goBuild(filepath.Join(dir, "retry"), ".."); err != nil {
		return nil, err
	}
	files := map[string][]byte{"README.md": []byte("readme")}
	if files["retry"], err = os.ReadFile(filepath.Join(dir, "retry")); err != nil {
		return nil, err
	}
	for name, words := range map[string]string{
		"man/retry.1": "--man", "completions/retry.bash": "--completion bash", "completions/_retry": "--completion zsh",
		"completions/retry.fish": "--completion fish", "completions/retry.ps1": "--completion powershell",
	} {
		if files[name], err = exec.Command(filepath.Join(dir, "retry"), strings.Fields(words)...).Output(); err != nil {
			return nil, err
		}
	}
	return files, nil
})

// copyProgram writes the program of the release.
func copyProgram(t *testing.T, to string) {
	t.Helper()
	files, err := releaseFiles()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, files["retry"], 0o755); err != nil {
		t.Fatal(err)
	}
}

// archive is the release with the program, standIn the same release with a script in the
// program's place, which costs an installation next to nothing.
var (
	archive = sync.OnceValues(func() ([]byte, error) {
		files, err := releaseFiles()
		return pack(files), err
	})
	standIn = sync.OnceValues(func() ([]byte, error) {
		files, err := releaseFiles()
		files = maps.Clone(files)
		files["retry"] = []byte("#!/bin/sh\necho retry 1.2.3\n")
		return pack(files), err
	})
)

func pack(files map[string][]byte) []byte {
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.NoCompression)
	w := tar.NewWriter(z)
	for name, content := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(content))}); err != nil {
			panic(err)
		}
		w.Write(content)
	}
	w.Close()
	z.Close()
	return packed.Bytes()
}

func checksums(name string, content []byte) []byte {
	return fmt.Appendf(nil, "%064x  not-%s\n%x  %s\n%064x  %s.sbom.json\n", 1, name, sha256.Sum256(content), name, 2,
		name)
}

// serve offers a whole release, archive or standIn, as the latest and as v1.2.3.
func serve(t *testing.T, of func() ([]byte, error)) *release {
	content, err := of()
	if err != nil {
		t.Fatal(err)
	}
	name := archiveName(t)
	r := &release{files: map[string][]byte{}, hanging: make(chan struct{}, 1), done: make(chan struct{})}
	for _, from := range []string{"/latest/download/", "/download/v1.2.3/"} {
		r.files[from+name], r.files[from+"checksums.txt"] = content, checksums(name, content)
	}
	r.Server = httptest.NewServer(r)
	t.Cleanup(func() { close(r.done); r.Close() })
	return r
}

// spoil changes the files.
func (r *release) spoil(how func(files map[string][]byte)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	how(r.files)
}

// ServeHTTP sends a file; one that is nil never ends.
func (r *release) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	content, ok := r.files[req.URL.Path]
	r.mu.Unlock()
	switch {
	case !ok:
		http.NotFound(w, req)
	case content == nil:
		w.Header().Set("Content-Length", "1000000")
		w.Write([]byte("begun"))
		w.(http.Flusher).Flush()
		r.hanging <- struct{}{}
		<-r.done
	default:
		w.Write(content)
	}
}

// installation is one run of install.sh.
type installation struct {
	cmd    *exec.Cmd
	output bytes.Buffer
	dir    string // where it installs to
	tmp    string // its TMPDIR
}

func (r *release) install(t *testing.T, shell []string, environ ...string) *installation {
	script, err := filepath.Abs(filepath.Join("..", "install.sh"))
	if err != nil {
		t.Fatal(err)
	}
	i := &installation{dir: filepath.Join(t.TempDir(), "a b", "bin"), tmp: t.TempDir()}
	i.cmd = command(t, append(slices.Clone(shell), script)...)
	i.cmd.Env = append(os.Environ(), "RETRY_BASE_URL="+r.URL, "RETRY_INSTALL_DIR="+i.dir, "RETRY_VERSION=",
		"TMPDIR="+i.tmp,
		"HOME="+i.tmp+"/none", "XDG_DATA_HOME=", "SHELL=/bin/sh", "no_proxy=127.0.0.1")
	i.cmd.Env = append(i.cmd.Env, environ...)
	i.cmd.Stdout, i.cmd.Stderr = &i.output, &i.output
	i.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return i
}

// fails runs an installation that must say why it fails and leave nothing.
func (i *installation) fails(t *testing.T, why string) {
	t.Helper()
	if err := i.cmd.Run(); err == nil {
		t.Errorf("it succeeded; it says\n%s", &i.output)
	}
	if !strings.Contains(i.output.String(), why) {
		t.Errorf("it says\n%swhich lacks %q", &i.output, why)
	}
	i.leftNothing(t)
}

func (i *installation) leftNothing(t *testing.T) {
	t.Helper()
	for _, dir := range []string{i.dir, i.tmp} {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			t.Errorf("it left %s", filepath.Join(dir, e.Name()))
		}
	}
}

// shells are those that install.sh is written for.
var shells = [][]string{{"dash"}, {"bash"}, {"busybox", "sh"}}

func TestInstall(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds the program")
	}
	for _, shell := range shells {
		t.Run(shell[0], func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(shell[0]); err != nil {
				t.Skip(err)
			}
			t.Run("latest", func(t *testing.T) { installs(t, shell) })
			t.Run("pages", func(t *testing.T) { installsPages(t, shell) })
			t.Run("path", func(t *testing.T) { saysPath(t, shell) })
			t.Run("over an old one", func(t *testing.T) { installsOver(t, shell) })
			t.Run("refuses", func(t *testing.T) { refuses(t, shell) })
			t.Run("platforms", func(t *testing.T) { knowsPlatforms(t, shell) })
			t.Run("without tools", func(t *testing.T) { lacksTools(t, shell) })
			t.Run("interrupted", func(t *testing.T) { interrupted(t, shell) })
		})
	}
}

func installs(t *testing.T, shell []string) {
	r := serve(t, archive)
	i := r.install(t, shell)
	if err := i.cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &i.output)
	}
	target := filepath.Join(i.dir, "retry")
	for _, want := range []string{"downloading " + r.URL + "/latest/download/", "installed " + target + ": retry ",
		i.dir + " is not in PATH yet"} {
		if !strings.Contains(i.output.String(), want) {
			t.Errorf("it says\n%swhich lacks %q", &i.output, want)
		}
	}
	if err := command(t, target, "--", "true").Run(); err != nil {
		t.Error(err)
	}
	if entries, _ := os.ReadDir(i.dir); len(entries) != 1 {
		t.Errorf("it left %v", entries)
	}
	if entries, _ := os.ReadDir(i.tmp); len(entries) != 0 {
		t.Errorf("it left %v", entries)
	}
}

// installsPages where there is a place for them, and finds them there.
func installsPages(t *testing.T, shell []string) {
	base := filepath.Join(t.TempDir(), "a b")
	for what, c := range map[string]struct {
		dir, data string
		place     bool // whether its share is there before
		environ   string
	}{
		"the user's own": {dir: "home/.local/bin", data: "home/.local/share"},
		"the user's data": {dir: "home/.local/bin/", data: "home/data",
			environ: "XDG_DATA_HOME=" + filepath.Join(base, "home/data")},
		"beside a share":    {dir: "local/bin", data: "local/share", place: true},
		"beside no share":   {dir: "opt/bin"},
		"not in a bin":      {dir: "local", place: true},
		"a share no more":   {dir: "full/bin", environ: "FULL=1"},
		"with zsh's of old": {dir: "zsh/bin", data: "zsh/share", place: true},
	} {
		t.Run(what, func(t *testing.T) {
			dir := filepath.Join(base, c.dir)
			share := filepath.Join(filepath.Dir(dir), "share")
			if c.place {
				makeDir(t, filepath.Join(share, "zsh/site-functions"))
			}
			if c.environ == "FULL=1" { // nothing can be made below it
				makeDir(t, filepath.Join(share, "man"))
				for _, name := range []string{"man/man1", "bash-completion", "fish"} {
					if err := os.WriteFile(filepath.Join(share, name), nil, 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			i := serve(t, standIn).install(t, shell, "HOME="+filepath.Join(base, "home"), "RETRY_INSTALL_DIR="+dir,
				c.environ)
			if err := i.cmd.Run(); err != nil || !strings.Contains(i.output.String(), "installed "+dir+"/retry") &&
				!strings.HasSuffix(c.dir, "/") {
				t.Fatalf("%v\n%s", err, &i.output)
			}
			for tool, file := range map[string]string{
				"man": share + "/man/man1/retry.1", "bash": "/bash-completion/completions/retry",
				"fish": "/fish/vendor_completions.d/retry.fish", "": share + "/zsh/site-functions/_retry",
			} {
				if !strings.HasPrefix(file, base) {
					file = filepath.Join(base, c.data, file)
				}
				_, missing := exec.LookPath(tool)
				here := missing == nil || tool == "" && c.place
				info, err := os.Stat(file)
				if want := here && c.data != ""; want != (err == nil) {
					t.Errorf("%s: %v, want it: %v\n%s", file, err, want, &i.output)
				} else if err == nil && (info.Mode().Perm() != 0o644 || info.Size() < 500 ||
					!strings.Contains(i.output.String(), "installed "+file+"\n")) {
					t.Errorf("%s: %v, %d bytes\n%s", file, info.Mode(), info.Size(), &i.output)
				}
			}
			if _, err := exec.LookPath("man"); err == nil && c.data != "" {
				find := command(t, "man", "-w", "retry")
				find.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "MANPATH=")
				if out, err := find.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), base) {
					t.Errorf("man finds %q, %v", out, err)
				}
			}
			leftNoStaged(t, base)
		})
	}
}

func makeDir(t *testing.T, name string) {
	t.Helper()
	if err := os.MkdirAll(name, 0o777); err != nil {
		t.Fatal(err)
	}
}

func leftNoStaged(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if strings.Contains(path, ".new.") {
			t.Errorf("it left %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// saysPath in a line that is run as it stands, and only if it is needed.
func saysPath(t *testing.T, shell []string) {
	dir := filepath.Join(t.TempDir(), `it's a $HOME "bin"`)
	for _, user := range []string{"sh", "bash", "zsh", "fish"} {
		i := serve(t, standIn).install(t, shell, "RETRY_INSTALL_DIR="+dir, "SHELL=/usr/bin/"+user)
		if err := i.cmd.Run(); err != nil {
			t.Fatalf("%v\n%s", err, &i.output)
		}
		_, rest, _ := strings.Cut(i.output.String(), " is not in PATH yet; this line, ")
		where, rest, _ := strings.Cut(rest, " adds it:\n\n")
		line := strings.TrimSpace(rest)
		if line == "" || strings.Contains(line, "\n") {
			t.Fatalf("%s: it says %q", user, &i.output)
		}
		if _, err := exec.LookPath(user); err != nil {
			t.Log(err)
			continue
		}
		find := command(t, user, "-c", line+"\ncommand -v retry")
		find.Dir = t.TempDir()
		// In POSIX's language fish finds no path with other letters.
		find.Env = append(os.Environ(), "HOME="+find.Dir, "LC_ALL=C.UTF-8")
		if out, err := find.CombinedOutput(); err != nil ||
			strings.TrimSpace(string(out)) != filepath.Join(dir, "retry") {
			t.Errorf("%s, %s: %q finds %q, %v", user, where, line, out, err)
		}
	}
	i := serve(t, standIn).install(t, shell, "RETRY_INSTALL_DIR="+dir+"/", "PATH="+dir+":"+os.Getenv("PATH"))
	if err := i.cmd.Run(); err != nil || strings.Contains(i.output.String(), "PATH yet") {
		t.Errorf("%v\n%s", err, &i.output)
	}
}

// installsOver a file that is there, by a version with and without its v.
func installsOver(t *testing.T, shell []string) {
	r := serve(t, standIn)
	for _, version := range []string{"v1.2.3", "1.2.3"} {
		i := r.install(t, shell, "RETRY_VERSION="+version)
		target := filepath.Join(i.dir, "retry")
		if err := os.MkdirAll(i.dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(target, []byte("old"), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := i.cmd.Run(); err != nil {
			t.Fatalf("%v\n%s", err, &i.output)
		}
		if info, err := os.Stat(target); err != nil || info.Size() <= int64(len("old")) || info.Mode().Perm() != 0o755 {
			t.Errorf("%v, %v", info, err)
		}
	}
}

// refuses what is not there, not whole, not listed, not right or not welcome.
func refuses(t *testing.T, shell []string) {
	name := archiveName(t)
	path, list := "/latest/download/"+name, "/latest/download/checksums.txt"
	for what, c := range map[string]struct {
		spoil   func(files map[string][]byte)
		environ []string
		why     string
	}{
		"no archive": {spoil: func(files map[string][]byte) { delete(files, path) },
			why: name + " cannot be downloaded"},
		"no checksums": {spoil: func(files map[string][]byte) { delete(files, list) },
			why: "checksums.txt cannot be downloaded"},
		"no version": {environ: []string{"RETRY_VERSION=v9.9.9"},
			why: "/download/v9.9.9/" + name + " cannot be downloaded"},
		"truncated": {spoil: func(files map[string][]byte) { files[path] = files[path][:5000] },
			why: "is listed; nothing was installed"},
		"wrong": {spoil: func(files map[string][]byte) { files[list] = checksums(name, []byte("other")) },
			why: "is listed; nothing was installed"},
		"not listed": {spoil: func(files map[string][]byte) { files[list] = checksums(name+".old", files[path]) },
			why: "checksums.txt does not list " + name},
		"truncated and listed": {spoil: func(files map[string][]byte) {
			files[path] = files[path][:5000]
			files[list] = checksums(name, files[path])
		}, why: name + " cannot be unpacked"},
		"does not run": {spoil: func(files map[string][]byte) {
			files[path] = pack(map[string][]byte{"retry": []byte("#!/bin/sh\nexit 3\n")})
			files[list] = checksums(name, files[path])
		}, why: "does not run here"},
	} {
		t.Run(what, func(t *testing.T) {
			r := serve(t, standIn)
			if c.spoil != nil {
				r.spoil(c.spoil)
			}
			r.install(t, shell, c.environ...).fails(t, c.why)
		})
	}
	t.Run("not writable", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		serve(t, standIn).install(t, shell, "RETRY_INSTALL_DIR="+file+"/bin").fails(t,
			"cannot be made; say another RETRY_INSTALL_DIR")
		if os.Geteuid() != 0 {
			dir := t.TempDir()
			if err := os.Chmod(dir, 0o555); err != nil {
				t.Fatal(err)
			}
			serve(t, standIn).install(t, shell, "RETRY_INSTALL_DIR="+dir).fails(t,
				"cannot be written; say another RETRY_INSTALL_DIR")
		}
	})
	t.Run("a directory in the way", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "retry"), 0o777); err != nil {
			t.Fatal(err)
		}
		serve(t, standIn).install(t, shell, "RETRY_INSTALL_DIR="+dir).fails(t, "is a directory")
	})
}

// knowsPlatforms gives the script a uname of other systems: it asks for their
// archive, which is not there, or says that there is none. Busybox's shell has
// a uname of its own.
func knowsPlatforms(t *testing.T, shell []string) {
	if shell[0] == "busybox" {
		t.Skip("busybox has uname built in")
	}
	for _, c := range []struct{ system, machine, why string }{
		{"Linux", "aarch64", "retry_linux_arm64.tar.gz cannot be downloaded"},
		{"Linux", "armv7l", "retry_linux_armv7.tar.gz cannot be downloaded"},
		{"Darwin", "arm64", "retry_darwin_universal.tar.gz cannot be downloaded"},
		{"FreeBSD", "amd64", "there is no build for FreeBSD;"},
		{"Linux", "s390x", "there is no build for the architecture s390x"},
	} {
		t.Run(c.system+" "+c.machine, func(t *testing.T) {
			bin := t.TempDir()
			uname := fmt.Sprintf("#!/bin/sh\ncase $1 in -s) echo %s ;; -m) echo %s ;; esac\n", c.system, c.machine)
			if err := os.WriteFile(filepath.Join(bin, "uname"), []byte(uname), 0o777); err != nil {
				t.Fatal(err)
			}
			r := serve(t, standIn)
			r.spoil(func(files map[string][]byte) { clear(files) })
			r.install(t, shell, "PATH="+bin+":"+os.Getenv("PATH")).fails(t, c.why)
		})
	}
}

// lacksTools gives the script a PATH without what it could check, or download,
// with. Busybox's shell has tools of its own, whatever PATH says.
func lacksTools(t *testing.T, shell []string) {
	if shell[0] == "busybox" {
		t.Skip("busybox has sha256sum built in")
	}
	link := func(names ...string) string {
		bin := t.TempDir()
		for _, name := range names {
			if path, err := exec.LookPath(name); err == nil {
				if err := os.Symlink(path, filepath.Join(bin, name)); err != nil {
					t.Fatal(err)
				}
			}
		}
		return bin
	}
	base := []string{"uname", "mktemp", "tar", "gzip", "cp", "chmod", "mv", "rm", "mkdir", "curl", "wget"}
	serve(t, standIn).install(t, shell, "PATH="+link(base...)).fails(t, "none of sha256sum, shasum and openssl is here")
	serve(t, standIn).install(t, shell, "PATH="+link(base[:9]...)).fails(t, "neither curl nor wget is here")
	for _, tools := range [][]string{{"sha256sum", "curl"}, {"shasum", "curl"}, {"openssl", "curl"},
		{"sha256sum", "wget"}} {
		t.Run(strings.Join(tools, " "), func(t *testing.T) {
			for _, tool := range tools {
				if _, err := exec.LookPath(tool); err != nil {
					t.Skip(err)
				}
			}
			all := append([]string{"perl"}, base[:9]...) // shasum is a Perl script
			i := serve(t, standIn).install(t, shell, "PATH="+link(append(all, tools...)...))
			if err := i.cmd.Run(); err != nil {
				t.Errorf("%v\n%s", err, &i.output)
			}
		})
	}
}

// interrupted sends a signal, as a terminal does, during a download that would
// never end.
func interrupted(t *testing.T, shell []string) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		r := serve(t, standIn)
		r.spoil(func(files map[string][]byte) { files["/latest/download/"+archiveName(t)] = nil })
		i := r.install(t, shell)
		if err := i.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-r.hanging:
		case <-time.After(awaitLimit):
			t.Fatalf("it did not download; it says\n%s", &i.output)
		}
		if err := syscall.Kill(-i.cmd.Process.Pid, signal); err != nil {
			t.Fatal(err)
		}
		if err := i.cmd.Wait(); err == nil {
			t.Errorf("%v: it succeeded", signal)
		}
		i.leftNothing(t)
	}
}
