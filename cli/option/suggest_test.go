package option

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Flags behind the command are told, if all that follows are flags of a run with their values
// and one of them has a value.
func TestBehind(t *testing.T) {
	many := strings.Repeat(" -v", 15)
	for line, want := range map[string]string{
		"true -n 3":               "true | -n 3",
		"true -n3":                "true | -n3",
		"true -v -n 3":            "true | -v -n 3",
		"true x -n 3 -v":          "true x | -n 3 -v",
		"-n 3":                    "-n 3",        // the first word is the command
		"true -n":                 "true -n",     // no value
		"true -n 3 x":             "true -n 3 x", // a word of the command behind it
		"true -n 3 --":            "true | -n 3 --",
		"true -v":                 "true -v", // switches are most often the command's
		"true -v -q":              "true -v -q",
		"true --nope -n 3":        "true --nope | -n 3",
		"true -n x":               "true -n x", // no value of it
		"true --plan -n 3":        "true --plan | -n 3",
		"true -n 3 --plan":        "true -n 3 --plan", // a mode
		"true - -n 3":             "true - | -n 3",
		"true n 3":                "true n 3",
		"true -t":                 "true -t",
		"true -n 3" + many[:14*3]: "true | -n 3" + many[:14*3], // 16 words
		"true -n 3" + many:        "true -n 3" + many,
		"true":                    "true",
	} {
		before, flags := Behind(strings.Fields(line))
		got := strings.Join(before, " ")
		if flags != nil {
			got += " | " + strings.Join(flags, " ")
		}
		if got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// A variable that is nearly one of a flag, or is set for commands only, is told.
func TestMisnamed(t *testing.T) {
	const limit = "RETRY_MAX_ATTEMPTS is set for commands and does not limit attempts; did you mean RETRY_ATTEMPTS?"
	nearly := func(name, meant string) string {
		return name + " is not the variable of a flag and is ignored; did you mean " + meant + "?"
	}
	for environ, want := range map[string][]string{
		"RETRY_MAX_ATTEMPTS=3":                 {limit},
		"RETRY_MAX_ATTEMPTS=3 RETRY_DEPTH=1":   nil, // set by the program
		"RETRY_DEPTH=1 RETRY_MAX_ATTEMPTS=3":   nil,
		"RETRY_MAX_ATTEMPTS=":                  nil,
		"RETRY_ATEMPTS=3":                      {nearly("RETRY_ATEMPTS", "RETRY_ATTEMPTS")},
		"RETRY_ATEMPTS=":                       nil,
		"ATEMPTS=3":                            nil,
		"XRETRY_ATEMPTS=3":                     nil,
		"RETRY_ATTEMPT=3":                      nil,                                  // one of the program's own
		"RETRY_BSAE=3":                         {nearly("RETRY_BSAE", "RETRY_BASE")}, // short: the order of its letters
		"RETRY_BOSE=3":                         {nearly("RETRY_BOSE", "RETRY_BASE")}, // a letter
		"RETRY_BOOE=3":                         nil,                                  // two letters are half of it
		"RETRY_DEADLIME=3":                     {nearly("RETRY_DEADLIME", "RETRY_DEADLINE")},
		"RETRY_DAEDLIME=3":                     nil, // three letters
		"RETRY_DEBDLIME=3":                     {nearly("RETRY_DEBDLIME", "RETRY_DEADLINE")},
		"RETRY_MAX=3":                          nil, // of a script
		"RETRY_CAT=3":                          {nearly("RETRY_CAT", "RETRY_CAP")},
		"RETRY_VERSIOM=1":                      nil, // a mode has no variable
		"RETRY_WAIT=redis://u:S3cret@h:1":      {nearly("RETRY_WAIT", "RETRY_WAIT_FOR=redis://u:xxxxx@h:1")},
		"RETRY_ATEMPTS=3 RETRY_MAX_ATTEMPTS=3": {nearly("RETRY_ATEMPTS", "RETRY_ATTEMPTS"), limit},
	} {
		if got := Misnamed(strings.Fields(environ)); !slices.Equal(got, want) {
			t.Errorf("%s:\n got %q\nwant %q", environ, got, want)
		}
	}
}

// An unknown word is answered with the flags that it is near to.
func TestUnknownFlags(t *testing.T) {
	for line, want := range map[string]string{
		"--atempts 3 true": `unknown flag "--atempts", did you mean "--attempts"? write: retry --attempts 3 -- true`,
		"--on-stdwut x true": `unknown flag "--on-stdwut", did you mean "--on-stdout"? write: retry ` +
			`--on-stdout x -- true`,
		"--stop-on-std x true": `unknown flag "--stop-on-std", did you mean one of "--stop-on-stdout", ` +
			`"--stop-on-stderr"?`,
		"-Z true":            `unknown flag "-Z"; write -- before a command that begins with a dash`,
		"--plan --zzz true":  `--plan: unknown flag "--zzz"; write -- before a command that begins with a dash`,
		"--plan=false --zzz": `unknown flag "--zzz"; write -- before a command that begins with a dash`,
		"--zzz --plan true":  `unknown flag "--zzz"; write -- before a command that begins with a dash`,
	} {
		if _, err := Read(strings.Fields(line), nil); err == nil || err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", line, err, want)
		}
	}
	for _, c := range []struct{ word, want string }{
		{"--timeout  30s", `"--timeout  30s" is a flag and its value in one word; write two, --timeout 30s`},
		{"--timeout a b", `"--timeout a b" is a flag and its value in one word; write two, --timeout 'a b'`},
		{"-n 3 --base 5", `"-n 3 --base 5" is several flags in one word; write each word by itself, -n 3 --base 5`},
		{"--verbose 3", `unknown flag "--verbose 3"`}, // takes no value
		{"--nope 3", `unknown flag "--nope 3"`},
	} {
		if _, err := Read([]string{c.word}, nil); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q\n got %v\nwant %s", c.word, err, c.want)
		}
	}
}

// A missing value is told with what stands in its place, and how the flag is written.
func TestValuesThatAreMissing(t *testing.T) {
	for line, want := range map[string]string{
		"--base": `--base: needs a value, and the command line ends here; write --base D, as in --base 1s`,
		// its default is no limit
		"-t": `-t: needs a value, and the command line ends here; write -t D`,
		"--base -x true": `--base: needs a value, and "-x" begins with a dash; write --base D, as in ` +
			`--base 1s; --base=-x gives it that value`,
		"--base -\tx true": `--base: needs a value, and "-\tx" begins with a dash; write --base D, as in --base 1s`,
		"--base -|x true": `--base: needs a value, and "-|x" begins with a dash; write --base D, as in ` +
			`--base 1s; '--base=-|x' gives it that value`,
		"--base -- true": `--base: needs a value, and "--" ends the flags; write --base D, as in --base ` +
			`1s; --base=-- gives it that value`,
		"-n=x true":        `-n: "=x": a short flag takes no "="; write -n x`,
		"-n=a\u00a0b true": `-n: "=N": a short flag takes no "="; write -n N`,
		"--key":            `--key: needs a value, and the command line ends here; write --key NAME`,
		"-n 3 --base --cap 3": `--base: needs a value, and "--cap" begins with a dash; write --base D, as in ` +
			`--base 1s; --base=--cap gives it that value`,
	} {
		if _, err := Read(strings.Split(line, " "), nil); err == nil || err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", line, err, want)
		}
	}
}

// A mode knows its own flags and those of a run that it takes; variables count for its own.
func TestReadMode(t *testing.T) {
	for _, c := range []struct {
		args, environ string
		mode          string // top, quiet, keys and words of it
		run           string // settings of a run
		err           string
	}{
		{args: "a b", mode: "0 false [] [a b]"},
		{args: "a --top 3 b -q", mode: "3 true [] [a b]", run: "quiet=true"},
		{args: "-K x --key y a", mode: "0 false [x y] [a]", run: "key=x key=y"},
		{args: "a -- --top 3", mode: "0 false [] [a --top 3]"},
		{args: "-- a", mode: "0 false [] [a]"},
		{args: "--", mode: "0 false [] []"},
		{args: "", mode: "0 false [] []"},
		{args: "--attempts 3 a --base 1s", mode: "0 false [] [a]", run: "attempts=3 base=1s"},
		{args: "a", environ: "RETRY_QUIET=1 RETRY_TOP=3 RETRY_ATTEMPTS=3", mode: "0 true [] [a]", run: "quiet=true"},
		{args: "--log-format json a", environ: "RETRY_LOG_FORMAT=text", mode: "0 false [] [a]", run: "log-format=json"},
		{args: "--quiet=false a", environ: "RETRY_QUIET=1", mode: "0 false [] [a]", run: "quiet=false"},
		{args: "--no-env a", environ: "RETRY_QUIET=1", mode: "0 false [] [a]", run: "no-env=true"},
		{args: "--no-env=false a", environ: "RETRY_QUIET=1", mode: "0 true [] [a]", run: "no-env=false quiet=true"},
		{args: "--tpo 3 a", err: `unknown flag --tpo, did you mean "--top"?`},
		{args: "--nope --also a", err: `unknown flag --nope`},
		{args: "--nope=3 a", err: `unknown flag --nope`},
		{args: "--simulate a", err: `unknown flag --simulate`},
		{args: "--top", err: "--top: needs a value"},
		{args: "--top x", err: `--top: "x" is not a whole number`},
		{args: "--base x", err: `--base: "x" is not a duration`},
	} {
		m := &sampleMode{}
		ofRun := append(OfRedrive(), *ByName("no-env"))
		run, err := ReadMode(m, ofRun, strings.Fields(c.args), strings.Fields(c.environ))
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q: %v, want %s", c.args, err, c.err)
			}
			continue
		}
		got := fmt.Sprint(int(m.Top), m.Quiet, m.Key, m.Words)
		if err != nil || got != c.mode || words(run) != c.run {
			t.Errorf("%q %q: %s, settings %q, %v; want %s, settings %q", c.args, c.environ, got, words(run), err,
				c.mode, c.run)
		}
	}
}

// Flags of several structs, and switches, may stand before a mode.
func TestLeading(t *testing.T) {
	for line, want := range map[string]string{
		"-n 3 --top 4 --status -q x -y": "-n 3 --top 4 --status -q",
		"--status x":                    "--status",
		"x --status":                    "",
		"--nope --status":               "--nope",
		"-n 3 -- --status":              "-n 3 --",
		"-n":                            "-n",
		"-n -q x":                       "-n -q",
	} {
		if got := strings.Join(Leading(strings.Fields(line), []string{"--status"}, &Run{}, &sampleMode{}),
			" "); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// What a line asks for: help before "--", and its first mode.
func TestAsks(t *testing.T) {
	for line, want := range map[string]bool{"-h": true, "a --help": true, "-- -h": false, "a -- --help": false,
		"a": false, "-h -- x": true, "--": false} {
		if got := AsksForHelp(strings.Fields(line)); got != want {
			t.Errorf("%q asks for help: %t", line, got)
		}
	}
	for line, want := range map[string]string{"--explain --exit 1": "explain", "--simulate outage": "simulate",
		"--plan true": "", "true": "", "-v --explain --simulate outage": "explain"} {
		o, err := Read(strings.Fields(line), nil)
		if got := o.Mode(); err != nil || got != want {
			t.Errorf("%q: mode %q, %v", line, got, err)
		}
	}
	for line, want := range map[string]string{"true": "", "-n 3 true": "[-n 3]", "-n 3 -- true": "nil",
		"-- true": "nil", "-q": "[-q]"} {
		o, _ := Read(strings.Fields(line), nil)
		got := fmt.Sprint(o.Own)
		if o.Own == nil {
			got = "nil"
		} else if len(o.Own) == 0 {
			got = ""
		}
		if got != want {
			t.Errorf("%q: own words %s, want %s", line, got, want)
		}
	}
	// Help after a mode that takes a value is that of the mode.
	o, err := Read([]string{"--simulate", "--help"}, nil)
	if err != nil || !o.Asks("simulate") || !o.Asks("help") || o.Simulate != "" {
		t.Errorf("%q %v", words(o.Settings), err)
	}
	if _, err := Read([]string{"--base", "--help"}, nil); err == nil {
		t.Error("--base --help")
	}
}
