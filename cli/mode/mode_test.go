package mode

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

type sample struct {
	Common
	Store string   `variable:"yes" nested:"-"`
	Key   []string `sep:"none"`
	Top   int      `default:"20" short:"t"`
	Since string
	Words []string `arg:"" optional:""`
}

func TestParse(t *testing.T) {
	for name, c := range map[string]struct {
		args, environ string
		want          sample
		err           string
	}{
		"defaults":                 {want: sample{Top: 20}},
		"words and flags mixed":    {args: "a --key k b -t 5 --key=l c", want: sample{Key: []string{"k", "l"}, Top: 5, Words: []string{"a", "b", "c"}}},
		"-- ends the flags":        {args: "-q -- --key -x", want: sample{Common: Common{Quiet: true}, Top: 20, Words: []string{"--key", "-x"}}},
		"a cluster":                {args: "-qvt 7 x", want: sample{Common: Common{Quiet: true, Verbose: true}, Top: 7, Words: []string{"x"}}},
		"a variable":               {environ: "RETRY_STORE=file:s RETRY_KEY=no RETRY_TIMEOUT=broken", want: sample{Store: "file:s", Top: 20}},
		"the command line wins":    {args: "--store file:a", environ: "RETRY_STORE=file:s", want: sample{Store: "file:a", Top: 20}},
		"no variables":             {args: "--no-env", environ: "RETRY_STORE=file:s", want: sample{Common: Common{NoEnv: true}, Top: 20}},
		"inside another retry":     {environ: "RETRY_STORE=file:s RETRY_DEPTH=1", want: sample{Top: 20}},
		"another log format":       {environ: "RETRY_LOG_FORMAT=github", want: sample{Top: 20}},
		"json by variable":         {environ: "RETRY_LOG_FORMAT=json", want: sample{Common: Common{LogFormat: "json"}, Top: 20}},
		"a log format of a run":    {args: "--log-format github", err: `--log-format: "github" is not text or json`},
		"a bad variable":           {environ: "RETRY_COLOR=blue", err: `RETRY_COLOR: "blue" is not auto, always or never`},
		"an unknown flag":          {args: "--tpo 3", err: "unknown flag --tpo"},
		"a flag in place of value": {args: "--since --key k", err: "--since"},
		"a missing value":          {args: "a --since", err: "--since"},
		"not a number":             {args: "--top many", err: `"many"`},
	} {
		t.Run(name, func(t *testing.T) {
			var got sample
			err := Parse(Call{Name: "sample", Args: strings.Fields(c.args), Environ: strings.Fields(c.environ)}, &got)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("error %v; want one with %q", err, c.err)
				}
				return
			}
			if c.want.LogFormat == "" {
				c.want.LogFormat = "text"
			}
			c.want.Color = "auto"
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%+v, %v; want %+v", got, err, c.want)
			}
		})
	}
}

func TestUsageNamesTheMode(t *testing.T) {
	stderr, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	c := Call{Name: "sample", Args: []string{"--no-such"}, Stderr: stderr}
	code := c.Usage(Parse(c, &sample{}))
	text, err := os.ReadFile(stderr.Name())
	if want := "retry: --sample: unknown flag --no-such\nTry 'retry --sample --help'.\n"; err != nil || code != 125 || string(text) != want {
		t.Errorf("code %d, %v, %q; want %q", code, err, text, want)
	}
}
