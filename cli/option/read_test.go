package option

import (
	"slices"
	"strings"
	"testing"
)

// words are settings as flag=value.
func words(settings []Setting) string {
	var all []string
	for _, s := range settings {
		all = append(all, s.Flag.Name()+"="+s.Value)
	}
	return strings.Join(all, " ")
}

func TestRead(t *testing.T) {
	for _, c := range []struct {
		argv    string
		own     string // name=value, spaces between
		command string
	}{
		{"true", "", "true"},
		{"-- true", "", "true"},
		{"-- -x", "", "-x"},
		{"-- -- x", "", "-- x"},
		{"-n 3 make -n 5", "attempts=3", "make -n 5"},
		{"-n3 -qv true", "attempts=3 quiet=true verbose=true", "true"},
		{"-qn5 true", "quiet=true attempts=5", "true"},
		{"-qn 5 true", "quiet=true attempts=5", "true"},
		{"--attempts=3 --attempts 4 true --attempts 9", "attempts=3 attempts=4", "true --attempts 9"},
		{"--on-exit 75 --on-exit=1,2 -- sh -c x", "on-exit=75 on-exit=1,2", "sh -c x"},
		{"--log-file=-- true", "log-file=--", "true"},
		{"--log-file - true", "log-file=-", "true"},
		{"-t5 true", "timeout=5", "true"},
		{"--quiet=false true", "quiet=false", "true"},
		{"--quiet=YES true", "quiet=true", "true"},
		{"--quiet=On --verbose=OFF true", "quiet=true verbose=false", "true"},
		{"- x", "", "- x"},
		{"true --help", "", "true --help"},
		{"--idempotency-key \xff\xfe true", "idempotency-key=\xff\xfe", "true"},
		{"", "", ""},
	} {
		l, err := Read(strings.Fields(c.argv), nil)
		if err != nil || words(l.Settings) != c.own || strings.Join(l.Command, " ") != c.command {
			t.Errorf("%q: own %q command %q, %v", c.argv, words(l.Settings), l.Command, err)
		}
	}
	for argv, want := range map[string]string{
		"--nope true": `unknown flag "--nope"`, "-x true": `unknown flag "-x"`, "-qx": `unknown flag "-qx"`,
		"---": `unknown flag "---"`, "--=x": `unknown flag "--=x"`,
		"--base":         "--base: needs a value, and the command line ends here",
		"-n":             "-n: needs a value, and the command line ends here; write -n N, as in -n 5",
		"--base -- true": `--base: needs a value, and "--" ends the flags`, "-qn": "-n: needs a value",
		"--base -1 true": `--base: needs a value, and "-1" begins with a dash`,
		"-n=5 true":      `-n: "=5": a short flag takes no "="; write -n 5`,
		"--quiet=maybe":  `--quiet: "maybe" is not true or false`, "--quiet=": `--quiet: "" is not true or false`,
		"--base= true": `--base: "" is not a duration`,
	} {
		if _, err := Read(strings.Fields(argv), nil); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %s", argv, err, want)
		}
	}
}

func TestEnvironment(t *testing.T) {
	for _, c := range []struct {
		name    string
		environ []string
		argv    string
		want    string
	}{
		{"a variable sets a flag", []string{"RETRY_ATTEMPTS=3"}, "", "attempts=3"},
		{"--no-env ignores it", []string{"RETRY_ATTEMPTS=3", "RETRY_STORE_FAIL=open"}, "--no-env", "no-env=true"},
		{"the command line beats it", []string{"RETRY_ATTEMPTS=3"}, "-n 4", "attempts=4"},
		{"a repeatable flag on the command line replaces it", []string{"RETRY_ON_EXIT=1"}, "--on-exit 2", "on-exit=2"},
		{"and so does one that says otherwise", []string{"RETRY_DELAYS=7s", "RETRY_QUIET=1"}, "--base 2s -v",
			"base=2s verbose=true"},
		{"or takes its meaning away", []string{"RETRY_BASE=-1", "RETRY_FACTOR=x", "RETRY_BACKOFF=linear",
			"RETRY_CAP=9s"}, "--delays 1s", "delays=1s cap=9s"},
		{"but not one that is switched off", []string{"RETRY_VERBOSE=1"}, "--quiet=false", "quiet=false verbose=true"},
		{"lines may end as on Windows", []string{"RETRY_ON_EXIT=1\r\n2\r\n"}, "", "on-exit=1 on-exit=2"},
		{"the end of a line behind a value is none of it", []string{"RETRY_ATTEMPTS=3\r\n"}, "", "attempts=3"},
		{"lines of a value that is one", []string{"RETRY_IDEMPOTENCY_KEY=a\nb"}, "", "idempotency-key=a\nb"},
		{"several values", []string{"RETRY_ON_STDERR=a,b\nc"}, "", "on-stderr=a,b on-stderr=c"},
		{"blank lines are ignored", []string{"RETRY_ON_EXIT=\n1\n\n  \n2\n"}, "", "on-exit=1 on-exit=2"},
		{"without a value", []string{"RETRY_QUIET=1", "RETRY_VERBOSE=no"}, "", "quiet=true verbose=false"},
		{"on and off", []string{"RETRY_VERBOSE=on", "RETRY_TIMESTAMPS=OFF"}, "", "verbose=true timestamps=false"},
		{"empty and unknown ones are ignored",
			[]string{"RETRY_ATTEMPTS=", "RETRY_NOPE=1", "RETRY=1", "RETRY_", "RETRY_attempts=3"}, "", ""},
		{"modes have no variable", []string{"RETRY_VERSION=1.2", "RETRY_HELP=1", "RETRY_PLAN=1", "RETRY_EXEC=1",
			"RETRY_EXPLAIN=1", "RETRY_EXIT=3"}, "", ""},
		{"what the command sees is no flag", []string{"RETRY_ATTEMPT=3", "RETRY_MAX_ATTEMPTS=x", "RETRY_DEPTH=1"}, "",
			""},
		{"the key from outside", []string{"RETRY_IDEMPOTENCY_KEY=k"}, "", "idempotency-key=k"},
		{"the key of an outer retry", []string{"RETRY_IDEMPOTENCY_KEY=k", "RETRY_DEPTH=1"}, "", ""},
		{"what nothing in force looks at", []string{"RETRY_WAIT_TIMEOUT=soon", "RETRY_HEDGE_MAX=0"}, "", ""},
		{"and what something does", []string{"RETRY_WAIT_TIMEOUT=9s", "RETRY_HEDGE=2s"}, "--wait-for tcp://a:1",
			"wait-for=tcp://a:1 wait-timeout=9s hedge=2s"},
	} {
		l, err := Read(strings.Fields(c.argv), Environment(Table(), c.environ))
		if err != nil || words(l.Settings) != c.want {
			t.Errorf("%s: %q, want %q; %v", c.name, words(l.Settings), c.want, err)
		} else if l.Backoff != "exponential" || l.Factor != 2 {
			t.Errorf("%s: backoff %q, factor %v", c.name, l.Backoff, l.Factor)
		}
	}
}

// A zero of a higher source replaces what contradicts it, as any other value does.
func TestMergeZero(t *testing.T) {
	setting := func(name, value string, from Source) Setting {
		return Setting{Flag: ByName(name), Value: value, Source: from}
	}
	lower := []Setting{setting("delays", "7s", FromPolicy), setting("verbose", "true", FromPolicy)}
	if got := words(Merge(lower, []Setting{setting("base", "0", FromEnvironment),
		setting("quiet", "0", FromEnvironment)})); got != "verbose=true base=0 quiet=0" {
		t.Error(got)
	}
}

func TestSuggest(t *testing.T) {
	for word, want := range map[string]string{
		"--atempts": "attempts", "--timout=5": "timeout", "--dead-line": "deadline", "--on-exits": "on-exit",
		"--jiter=full": "jitter",
		"-attempts":    "attempts", "--ATTEMPTS": "attempts", "--stop_on_exit": "stop-on-exit", // written otherwise
		// nothing near
		"-Z": "", "--n": "", "---": "", "--=": "", "-qx": "", "--no-quiet": "", "--\xff\xfe\xff": "", "--zzzzzzzz": "",
		"--sto": "store", // stop-on-stdout has more than twice its letters
	} {
		if got := strings.Join(Suggest(word), " "); got != want {
			t.Errorf("suggest(%q) = %s, want %s", word, got, want)
		}
	}
}

func TestNear(t *testing.T) {
	for words, distance := range map[[2]string]int{
		{"", ""}: 0, {"", "ab"}: 2, {"ab", "ab"}: 0, {"ab", "ba"}: 2, {"abc", "xbc"}: 1, {"abc", "abcx"}: 1,
		{"abc", "ac"}: 1, {"kitten", "sitting"}: 3,
		{"saturday", "sunday"}: 3, {"aab", "ab"}: 1, {"aaaa", "aa"}: 2, {"abab", "baba"}: 2, {"flaw", "lawn"}: 2,
		{"ab", "cd"}: 2,
	} {
		for n := range 5 {
			if Near(words[0], words[1], n) != (distance <= n) || Near(words[1], words[0], n) != (distance <= n) {
				t.Errorf("%q differ by %d, and not within %d", words, distance, n)
			}
		}
	}
}

// More flags than kong reads fast are refused, and as many are read.
func TestReadManyFlags(t *testing.T) {
	for _, c := range []struct {
		flags, targets int
		ok             bool
	}{{1000, 0, true}, {1001, 0, false}, {0, 1000, true}, {0, 1001, false}} {
		line := slices.Repeat([]string{"-v"}, c.flags)
		var below []Setting
		for range c.targets {
			below = append(below, Setting{Flag: ByName("wait-for"), Value: "file:///x", Word: "RETRY_WAIT_FOR",
				Source: FromEnvironment})
		}
		o, err := Read(append(line, "true"), below)
		if err == nil {
			err = o.Resolve()
		}
		if (err == nil) != c.ok {
			t.Errorf("%d flags, %d targets: %v", c.flags, c.targets, err)
		}
	}
}

// A command of very many words costs kong nothing.
func TestReadManyWords(t *testing.T) {
	many := strings.Fields(strings.Repeat("word ", 100_000))
	for _, flags := range [][]string{{"-n", "3"}, {"-n", "3", "--"}} {
		o, err := Read(append(flags, many...), nil)
		if err != nil || !slices.Equal(o.Command, many) || o.Attempts != 3 {
			t.Errorf("%q: %v, %d words, %d attempts", flags, err, len(o.Command), o.Attempts)
		}
	}
}

// FuzzRead: a line is read or refused in one line, the command's words stay what
// they are, and the flags in use and the words up to the bound give what all flags and words give.
func FuzzRead(f *testing.F) {
	for _, argv := range []string{
		"-n 3 -- true", "--attempts=5 --base 100ms --cap 30s --jitter full --on-exit 75,111 -- cmd args", "-qvn5 x",
		"--on-stderr a{1,3} --on-stderr b",
		"--atempts", "-n", "--quiet=false x", "-- --", "-", "--base= x", "--log-file ' ' x",
		"--idempotency-key $HOME x", "--on-stdout ${x} y", "-n=5 x", "--base -1 x", "--quiet=0 x", "-qv x",
		"--verbose=ON --quiet=off x",
	} {
		f.Add(argv)
	}
	table := Table()
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "\x00") {
			t.Skip("no argument holds NUL")
		}
		argv := strings.Split(text, " ")
		l, err := Read(argv, nil)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("%q: the error has several lines: %v", argv, err)
			}
			return
		}
		whole := &reading{known: table, part: partOf(new(Run), nil, nil)}
		err = whole.parse(newRun(), argv[:len(argv)-len(l.Command)])
		if err == nil {
			err = whole.fill(nil)
		}
		if err != nil || words(whole.settings) != words(l.Settings) {
			t.Fatalf("%q: kong reads %q of all flags, %v; and %q of those in use", argv, words(whole.settings), err,
				words(l.Settings))
		}
		if !slices.Equal(l.Command, argv[len(argv)-len(l.Command):]) {
			t.Fatalf("%q: the command %q was touched", argv, l.Command)
		}
		g, again := l, Options{Settings: l.Settings}
		if err := again.Fill(); err != nil || g.Attempts != again.Attempts || g.Base != again.Base ||
			g.Quiet != again.Quiet || len(g.OnStderr) != len(again.OnStderr) {
			t.Fatalf("%q: %v; %+v and %+v", argv, err, g, again)
		}
	})
}

// Very many words of a mode cost kong nothing either.
func TestReadModeManyWords(t *testing.T) {
	many := strings.Fields(strings.Repeat("word ", 100_000))
	for _, flags := range [][]string{{"-q"}, {"-q", "--"}, {"-q", "--", "-x"}} {
		m := &sampleMode{}
		_, err := ReadMode(m, nil, slices.Concat(flags, many), nil)
		if n := len(m.Words); err != nil || !m.Quiet || n < len(many) || n > len(many)+1 {
			t.Errorf("%q: %v, %d words", flags, err, n)
		}
	}
}

// sampleMode has flags of each form.
type sampleMode struct {
	Key   []Text   `short:"K" variable:"no"`
	Top   Limit    `variable:"no"`
	Quiet bool     `short:"q"`
	Words []string `arg:"" optional:""`
}

// FuzzReadMode: the words of a mode are read or refused in one line; those that are kept
// are words of the line, in their order, and with "--" before all of them they are all.
func FuzzReadMode(f *testing.F) {
	for _, args := range []string{
		"a b", "a --key k b -q c", "-qK k a", "--nope=1 -- x", "a --key", "-- --key -x", "--top=5 - --", "--top x a",
		"--key --quiet a", "-q=1", "a  b",
	} {
		f.Add(args)
	}
	f.Fuzz(func(t *testing.T, text string) {
		args := strings.Split(text, " ")
		m := &sampleMode{}
		if _, err := ReadMode(m, OfRedrive(), args, nil); err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("%q: the error has several lines: %v", args, err)
			}
		} else {
			left := args
			for _, word := range m.Words {
				at := slices.Index(left, word)
				if at < 0 {
					t.Fatalf("%q: %q is none of its words, or not in its place", args, word)
				}
				left = left[at+1:]
			}
		}
		m = &sampleMode{}
		if _, err := ReadMode(m, nil, append([]string{"--"}, args...), nil); err != nil ||
			!slices.Equal(m.Words, args) {
			t.Fatalf("%q behind --: %q, %v", args, m.Words, err)
		}
	})
}
