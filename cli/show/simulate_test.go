package show

// This file holds what is drawn of a simulation to what it is drawn of.

import (
	goflag "flag"

	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/engine/simulate"
	"github.com/retrysh/retry/engine/text"
)

// redraw draws docs/simulation.svg anew.
var redraw = goflag.Bool("update", false, "draw docs/simulation.svg anew")

// simulated reads a command line and follows its herds.
func simulated(t *testing.T, words ...string) []simulate.Herd {
	t.Helper()
	o, err := option.Read(append([]string{"--simulate", "outage"}, words...), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Resolve(); err != nil {
		t.Fatal(err)
	}
	var herds []simulate.Herd
	for _, h := range o.Simulation.Herds {
		herd := o.Simulation.Outage.Run(h.Policy, h.Guards, Random(o, 0).Float64)
		herd.Name = h.Name
		herds = append(herds, herd)
	}
	return herds
}

// TestPictureOfThePage holds docs/simulation.svg to the command that stands
// below it; go test ./cli/show -run TestPicture -update draws it anew.
func TestPictureOfThePage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "simulation.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, line, found := strings.Cut(string(page), "```sh\nretry --simulate outage ")
	line, _, _ = strings.Cut(line, "\n")
	line, name, drawn := strings.Cut(line, " --svg ")
	if !found || !drawn {
		t.Fatal("docs/simulation.md does not say how its picture was drawn")
	}
	want := drawOutage(simulated(t, strings.Fields(line)...))
	file := filepath.Join("..", "..", filepath.FromSlash(name))
	if *redraw {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not what the command below it draws: %v", name, err)
	}
}

// A picture is XML, whatever a policy is called and whatever became of it.
func TestPictureIsXML(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		herds := simulated(t, "--clients", "20", "--outage", time.Duration(r.Int64N(int64(time.Minute))).String(),
			"-n", "3")
		herds[0].Name = "<b> & \"x\"\x07\x1b[31m ]]>"
		herds = append(herds, herds[0])
		decoder := xml.NewDecoder(bytes.NewReader(drawOutage(herds)))
		names := 0
		for {
			token, err := decoder.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if text, is := token.(xml.CharData); is && strings.Contains(string(text), `<b> & "x"`) {
				names++
			}
		}
		if names < 4 {
			t.Fatalf("the names of two herds are there %d times", names)
		}
	}
}

func TestPlotFillsItsCells(t *testing.T) {
	p := plot{bars: []float64{0, 1, 50, 100, 400, 60}, top: 100, mark: 75, height: 2, label: number}
	for _, c := range []struct {
		canvas canvas
		want   string
	}{
		{canvas{10, []rune(" ▁▂▃▄▅▆▇█"), '│', '╌'}, "      75 │╌╌╌██▂\n       0 │ ▁████\n"},
		{canvas{10, []rune(" .:#"), '|', '-'}, "      75 |---##.\n       0 | .####\n"},
	} {
		var b strings.Builder
		p.draw(&b, c.canvas)
		if b.String() != c.want {
			t.Errorf("it draws\n%swant\n%s", b.String(), c.want)
		}
	}
}

// A plot reaches to the end in the columns that there are.
func TestPlotsFit(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 10000 {
		end := time.Duration(r.Int64N(int64(1) << (1 + r.IntN(54))))
		columns := 20 + r.IntN(400)
		width, bars := fit(end, columns)
		if bars > columns || width*time.Duration(bars) <= end {
			t.Fatalf("%v in %d columns: %d bars of %v", end, columns, bars, width)
		}
	}
}

func TestBarsHoldAllCalls(t *testing.T) {
	for _, h := range simulated(t, "--clients", "300", "-n", "9", "--compare", "jitter") {
		width, bars := fit(h.End, 70)
		sum := 0.0
		all, _ := loads([]simulate.Herd{h}, width, bars)
		for _, rate := range all[0] {
			sum += rate * width.Seconds()
		}
		done := finished(&h, width, bars)
		if int(sum+0.5) != h.Calls || done[bars-1] != float64(h.Finished)/300 {
			t.Errorf("%s: %v of %d calls, %v of %d finished", h.Name, sum, h.Calls, done[bars-1], h.Finished)
		}
	}
}

func TestSentences(t *testing.T) {
	h := &simulate.Herd{Outage: simulate.Outage{Clients: 1, Capacity: 1}, LeftOut: 1, Calls: 7, CallsEach: 7,
		End: time.Hour}
	want := "None of 1 finishes, 1 is still running when the simulation ends. Peak load: no calls while it is " +
		"down, no calls when it is up again. 7 calls per client. The simulation ends at 1h0m0s, after 7 calls."
	if got := strings.Join(sentences(h, nil), " "); got != want {
		t.Errorf("%s", got)
	}
	for x, want := range map[float64]string{0: "0", 1.5: "1.5", 6.952: "6.95", 123.4: "123", 99.96: "100",
		1234567: "1234567", 0.8721: "0.872"} {
		if got := number(x); got != want {
			t.Errorf("%v is %s", x, got)
		}
	}
}

func TestWrap(t *testing.T) {
	if got := strings.Join(text.Wrap("one two three four", 9), "|"); got != "one two|three|four" {
		t.Error(got)
	}
}
