package attempt

import "testing"

func TestParseSignal(t *testing.T) {
	for in, want := range map[string]Signal{
		"KILL": "SIGKILL", "SIGSEGV": "SIGSEGV", "term": "SIGTERM", "sigint": "SIGINT",
		"IOT": "SIGABRT", "RTMIN": "SIGRTMIN", "RTMIN+2": "SIGRTMIN+2", "SIGRTMAX": "SIGRTMIN+30",
		"RTMAX-30": "SIGRTMIN",
	} {
		got, err := ParseSignal(in)
		if err != nil || got != want {
			t.Errorf("ParseSignal(%q) = %q, %v; want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"", "SIG", "9", "KILLER", "SIGSIGTERM", "RTMIN-1", "RTMAX+1", "RTMIN2", " TERM",
		"TERM "} {
		if got, err := ParseSignal(in); err == nil {
			t.Errorf("ParseSignal(%q) = %q, want an error", in, got)
		}
	}
}
