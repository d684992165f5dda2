package cli

// This file has a real Prometheus read what --metrics-file writes: version 3 writes the
// bounds of histograms in another way than version 2.

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/telemetry"
	"github.com/retrysh/retry/testdata/loopback"
)

// metricsRules are the rules of docs/metrics.md, in a file.
func metricsRules(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "docs", "metrics.md"))
	if err != nil {
		t.Fatal(err)
	}
	rules := regexp.MustCompile("(?s)```yaml\n(groups:.*?)```").FindSubmatch(page)
	if rules == nil {
		t.Fatal("docs/metrics.md has no rules")
	}
	file := filepath.Join(t.TempDir(), "rules.yml")
	if err := os.WriteFile(file, rules[1], 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// panels are the expressions of docs/grafana.json, by the titles of their panels.
func panels(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "docs", "grafana.json"))
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(data, &dashboard); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			all[p.Title] = strings.NewReplacer("$__rate_interval", "5m", "$name", ".*").Replace(target.Expr)
		}
	}
	return all
}

// alertNames are the alerts of the rules.
var alertNames = []string{"ManyRunsRetry", "RunGaveUp", "SecondAttemptsFail"}

// TestAlertsHoldForBothBounds gives promtool series as Prometheus 2 and as Prometheus 3
// writes them: each expression finds the same.
func TestAlertsHoldForBothBounds(t *testing.T) {
	t.Parallel()
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed")
	}
	rules := metricsRules(t)
	if out, err := command(t, promtool, "check", "rules", rules).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(rules)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)alert: (\w+)\n *expr: (.*)$`).FindAllStringSubmatch(string(text), -1)
	share := ""
	for title, expr := range panels(t) {
		if strings.HasPrefix(title, "Share of runs") {
			share = expr
		}
	}
	if len(found) != len(alertNames) || share == "" {
		t.Fatalf("%d alerts, share %q", len(found), share)
	}
	for version, bounds := range map[string][2]string{"2": {"1", "2"}, "3": {"1.0", "2.0"}} {
		t.Run("Prometheus "+version, func(t *testing.T) {
			// In an hour 60 runs: 30 succeed at once, 6 at the second attempt, 24 give up after two.
			series := []string{
				`retry_run_attempts_bucket{name="a",outcome="succeeded",le="` + bounds[0] + `"}`, "0+5x60",
				`retry_run_attempts_bucket{name="a",outcome="succeeded",le="` + bounds[1] + `"}`, "0+6x60",
				`retry_run_attempts_count{name="a",outcome="succeeded"}`, "0+6x60",
				`retry_run_attempts_bucket{name="a",outcome="exhausted",le="` + bounds[0] + `"}`, "0+0x60",
				`retry_run_attempts_bucket{name="a",outcome="exhausted",le="` + bounds[1] + `"}`, "0+4x60",
				`retry_run_attempts_count{name="a",outcome="exhausted"}`, "0+4x60",
				`retry_last_run_timestamp_seconds{name="a",outcome="exhausted"}`, "0+60x60",
			}
			var b strings.Builder
			b.WriteString("evaluation_interval: 1m\ntests:\n  - interval: 1m\n    input_series:\n")
			for i := 0; i < len(series); i += 2 {
				fmt.Fprintf(&b, "      - { series: '%s', values: '%s' }\n", series[i], series[i+1])
			}
			b.WriteString("    promql_expr_test:\n")
			expect := func(expr, value string) {
				fmt.Fprintf(&b, "      - expr: %q\n        eval_time: 1h\n        exp_samples: [{ labels: '{}', "+
					"value: %s }]\n", expr, value)
			}
			for _, alert := range found {
				expect("count("+alert[2]+")", "1")
			}
			expect("round(sum("+share+"), 0.01)", "0.5")
			file := filepath.Join(t.TempDir(), "test.yml")
			if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
			if out, err := command(t, promtool, "test", "rules", file).CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// countRun adds a run to a metrics file.
func countRun(t *testing.T, file string, attempts int, outcome event.Outcome) {
	t.Helper()
	run := new(event.Run)
	sink := telemetry.New(telemetry.Config{MetricsFile: file, Warn: func(line string) { t.Error(line) }}, run)
	now := time.Now()
	emit := func(e event.Event) {
		e.Head().Time = now
		run.Add(e)
		sink.Emit(e)
	}
	emit(&event.RunStarted{Name: "a", Command: []string{"a"}})
	emit(&event.RunFinished{Attempts: attempts, Ending: event.Ending{Outcome: outcome}})
	sink.Send(context.Background())
}

// TestPrometheus has a server scrape the file: each alert of docs/metrics.md fires, and each
// panel of docs/grafana.json about runs shows something.
func TestPrometheus(t *testing.T) {
	t.Parallel()
	prometheus, err := exec.LookPath("prometheus")
	if err != nil {
		t.Skip("prometheus is not installed")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "retry.prom")
	countRun(t, file, 1, event.Succeeded)
	countRun(t, file, 2, event.Succeeded)
	countRun(t, file, 2, event.Exhausted)
	var scrapes atomic.Int32
	metrics := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if scrapes.Add(1) == 3 { // increase needs the counts before
			for range 10 {
				countRun(t, file, 1, event.Succeeded)
				countRun(t, file, 2, event.Exhausted)
			}
			countRun(t, file, 2, event.Succeeded)
		}
		data, _ := os.ReadFile(file)
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		_, _ = w.Write(data)
	}))
	defer metrics.Close()
	config := filepath.Join(dir, "prometheus.yml")
	target, _ := url.Parse(metrics.URL)
	if err := os.WriteFile(config,
		fmt.Appendf(nil, "global: { scrape_interval: 1s, evaluation_interval: 1s }\nrule_files: [%q]\n"+
			"scrape_configs: [{ job_name: retry, static_configs: [{ targets: [%q] }] }]\n", metricsRules(t),
			target.Host), 0o644); err != nil {
		t.Fatal(err)
	}
	address := loopback.ForServer(t)
	server := command(t, prometheus, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+address, "--log.level=error")
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	}()
	var firing []string
	for end := time.Now().Add(2 * time.Minute); !slices.Equal(firing, alertNames); {
		if time.Now().After(end) {
			t.Fatalf("firing are %q", firing)
		}
		time.Sleep(200 * time.Millisecond)
		var answer struct {
			Data struct {
				Alerts []struct {
					State  string
					Labels struct{ Alertname string }
				}
			}
		}
		firing = nil
		if ask(address, "alerts", "", &answer) == nil {
			for _, a := range answer.Data.Alerts {
				if a.State == "firing" {
					firing = append(firing, a.Labels.Alertname)
				}
			}
		}
		slices.Sort(firing)
		firing = slices.Compact(firing)
	}
	for title, expr := range panels(t) {
		var answer struct {
			Data struct {
				Result []struct{ Value [2]any }
			}
		}
		err := ask(address, "query", expr, &answer)
		runs := strings.Contains(expr, "retry_run")
		if err != nil || runs && len(answer.Data.Result) == 0 {
			t.Errorf("%s: %v, %v", title, err, answer.Data.Result)
		}
		for _, r := range answer.Data.Result {
			if value, _ := r.Value[1].(string); runs &&
				(value == "NaN" || strings.HasPrefix(title, "Share") && value <= "0") {
				t.Errorf("%s: %q", title, value)
			}
		}
	}
}

// ask asks the API of a Prometheus server.
func ask(address, what, query string, answer any) error {
	response, err := http.Get("http://" + address + "/api/v1/" + what + "?query=" + url.QueryEscape(query))
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, data)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(data, answer)
}
