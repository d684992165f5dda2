package mode

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retrysh/retry/cli/option"
)

type sample struct {
	Common
	Store option.Text
	Key   []option.Text `variable:"no"`
	Top   option.Limit  `short:"t" variable:"no"`
	Since option.Text   `variable:"no"`
}

func (s *sample) Run() int {
	s.Print(fmt.Sprintf("%s%v|%s|%s|%q|%d|%t%t%t|%s\n", s.LogFormat, s.Words, s.Store, s.Color, s.Key, s.Top, s.Quiet,
		s.Verbose, s.NoEnv, s.Since))
	return 1
}

// run runs the sample, and returns its output and warnings.
func run(t *testing.T, args, environ string) (code int, stdout, stderr string) {
	t.Helper()
	c := Call{Name: "sample", Args: strings.Fields(args), Environ: strings.Fields(environ)}
	var outputs [2]*os.File
	for i := range outputs {
		f, err := os.Create(filepath.Join(t.TempDir(), "output"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		outputs[i] = f
	}
	c.Stdout, c.Stderr = outputs[0], outputs[1]
	code = Run(c, &sample{Common: Defaults(), Top: 20})
	var texts [2]string
	for i, f := range outputs {
		text, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(text)
	}
	return code, texts[0], texts[1]
}

func TestRun(t *testing.T) {
	for name, c := range map[string]struct {
		args, environ, want, err string
	}{
		"defaults": {want: `text[]||auto|[]|20|falsefalsefalse|`},
		"words and flags mixed": {args: "a --key k b -t 5 --key=l c",
			want: `text[a b c]||auto|["k" "l"]|5|falsefalsefalse|`},
		"-- ends the flags": {args: "-q -- --key -x", want: `text[--key -x]||auto|[]|20|truefalsefalse|`},
		"a cluster":         {args: "-qvt 7 x", want: `text[x]||auto|[]|7|truetruefalse|`},
		"a variable": {environ: "RETRY_STORE=file:s RETRY_KEY=no RETRY_TIMEOUT=broken",
			want: `text[]|file:s|auto|[]|20|falsefalsefalse|`},
		"the command line wins": {args: "--store file:a", environ: "RETRY_STORE=file:s",
			want: `text[]|file:a|auto|[]|20|falsefalsefalse|`},
		"no variables": {args: "--no-env", environ: "RETRY_STORE=file:s",
			want: `text[]||auto|[]|20|falsefalsetrue|`},
		"another log format":    {environ: "RETRY_LOG_FORMAT=github", want: `text[]||auto|[]|20|falsefalsefalse|`},
		"json by variable":      {environ: "RETRY_LOG_FORMAT=json", want: `json[]||auto|[]|20|falsefalsefalse|`},
		"a log format of a run": {args: "--log-format github", err: `--log-format: "github" is not text or json`},
		"a bad variable": {environ: "RETRY_COLOR=blue",
			err: `RETRY_COLOR: "blue" is not auto, always or never`},
		"an unknown flag":          {args: "--tpo 3", err: "unknown flag --tpo"},
		"an unknown flag, and --":  {args: "--tpo=3 -- x", err: "unknown flag --tpo"},
		"a flag in place of value": {args: "--since --key k", err: "--since"},
		"a missing value":          {args: "a --since", err: "--since"},
		"not a number":             {args: "--top many", err: `"many"`},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := run(t, c.args, c.environ)
			if c.err != "" && (code != 125 || stdout != "" || !strings.Contains(stderr, c.err)) || c.err == "" &&
				(code != 1 || stdout != c.want+"\n" || stderr != "") {
				t.Errorf("code %d, %q, %q; want %q %s", code, stdout, stderr, c.want, c.err)
			}
		})
	}
}

func TestUsageNamesTheMode(t *testing.T) {
	const want = "retry: --sample: unknown flag --no-such\nTry 'retry --sample --help'.\n"
	if code, stdout, stderr := run(t, "--no-such", ""); code != 125 || stdout != "" || stderr != want {
		t.Errorf("code %d, %q, %q; want %q", code, stdout, stderr, want)
	}
}
