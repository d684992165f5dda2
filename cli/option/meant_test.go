package option

import (
	"strings"
	"testing"
)

// The error about a value that is wrong says what was probably meant, as it is written in
// that place.
func TestMeant(t *testing.T) {
	const stands = `is no exit code (0 to 255) but a status of HTTP, which stands in the output`
	for _, c := range []struct {
		flag, value string
		source      Source
		want        string
	}{
		{"on-exit", "503", FromCommandLine, `"503" ` + stands + `; write --on-stderr 503`},
		{"on-exit", "75,429", FromEnvironment, `"429" ` + stands + `; write RETRY_ON_STDERR=429`},
		{"stop-on-exit", "404", FromCommandLine, `"404" ` + stands + `; write --stop-on-stderr 404`},
		{"stop-on-exit", "404", FromPolicy, `"404" ` + stands + `; write stop-on-stderr 404`},
		{"success-on-exit", "404", FromCommandLine, `"404" ` + stands},
		{"on-exit", "75 111", FromCommandLine, `"75 111" is no item; separate items by single commas, as in 75,111`},
		{"on-exit", "75; KILL", FromPolicy, `"75; KILL" is no item; separate items by single commas, as in 75,KILL`},
		{"wait-for", "tcp://a:1,tcp://b:2", FromCommandLine, `bad target "tcp://a:1,tcp://b:2": this is two targets; ` +
			`give the flag twice, as in --wait-for tcp://a:1 --wait-for tcp://b:2`},
		{"wait-gone", "tcp://a:1, http://b:80/", FromCommandLine, `bad target "tcp://a:1, http://b:80/": this is two ` +
			`targets; give the flag twice, as in --wait-gone tcp://a:1 --wait-gone http://b:80/`},
		{"wait-for", "tcp://a:1 tcp://b:2", FromEnvironment, `bad target "tcp://a:1 tcp://b:2": this is two targets; ` +
			`each stands on a line of its own in RETRY_TEST`},
		{"wait-for", "tcp://a:1,tcp://b:2", FromPolicy, `bad target "tcp://a:1,tcp://b:2": this is two targets; ` +
			`each stands on a line of its own, as in wait-for tcp://a:1`},
		{"wait-for", "a:1,b:2", FromCommandLine, `bad target "a:1,b:2": this is two targets; ` +
			`give the flag twice, as in --wait-for tcp://a:1 --wait-for tcp://b:2`},
		{"backoff", "2", FromCommandLine, `"2" is not exponential, linear, constant or fibonacci; ` +
			`a multiplier is --factor 2`},
		{"timeout", "5 minutes", FromPolicy, `"5 minutes" is not a duration; write a number and its unit in one word, ` +
			`as in 5minutes`},
	} {
		run := newRun()
		s := Setting{Flag: ByName(c.flag), Value: c.value, Word: "RETRY_TEST", Source: c.source}
		o := &Options{Run: *run, Settings: []Setting{s}}
		if err := o.Fill(); err == nil || err.Error() != s.Word+": "+c.want {
			t.Errorf("%s %s\n got %v\nwant %s: %s", c.flag, c.value, err, s.Word, c.want)
		}
	}
	for value, want := range map[string]string{"0.1": "; write --jitter 10%", "1": "; write --jitter 100%",
		"10": "; write --jitter 10%", "200": "such as 25%", "-1": "such as 25%", "0": "such as 25%"} {
		if _, err := Read([]string{"--jitter=" + value}, nil); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("--jitter %s: %v, want %s", value, err, want)
		}
	}
}
