// Package collector tests the program's metrics and traces against what they are
// for: the receiver of an OpenTelemetry collector, Prometheus's parser and linter,
// and node_exporter. It is a module of its own, so that the program needs none of
// their packages:
//
//	go test -C testdata/collector ./...
package collector

import (
	"bytes"
	"context"
	"encoding/hex"
	"flag"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/receiver/receivertest"
)

var update = flag.Bool("update", false, "draw docs/trace.svg anew")

// program is the path of the program that is tested.
var program string

func TestMain(m *testing.M) {
	flag.Parse()
	dir, err := os.MkdirTemp("", "collector")
	if err == nil {
		program = filepath.Join(dir, "retry")
		build := exec.Command("go", "build", "-o", program, ".")
		build.Dir = filepath.Join("..", "..")
		build.Stderr = os.Stderr
		err = build.Run()
	}
	if err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// retry runs the program in a directory.
func retry(t *testing.T, dir string, env []string, args ...string) {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	_ = cmd.Run() // many a command fails
	if line := "retry: --"; strings.Contains(complaints.String(), line) {
		t.Fatal(complaints.String())
	}
}

// collect starts a collector's receiver and returns its address, and what it has
// received.
func collect(t *testing.T) (string, *consumertest.TracesSink, *consumertest.MetricsSink) {
	t.Helper()
	address := freeAddress(t)
	factory := otlpreceiver.NewFactory()
	config := factory.CreateDefaultConfig()
	http := map[string]any{"endpoint": address}
	protocols := map[string]any{"protocols": map[string]any{"http": http}}
	if err := confmap.NewFromStringMap(protocols).Unmarshal(config); err != nil {
		t.Fatal(err)
	}
	traces, metrics := new(consumertest.TracesSink), new(consumertest.MetricsSink)
	settings := receivertest.NewNopSettings(factory.Type())
	forTraces, err := factory.CreateTraces(context.Background(), settings, config, traces)
	if err != nil {
		t.Fatal(err)
	}
	forMetrics, err := factory.CreateMetrics(context.Background(), settings, config, metrics)
	if err != nil {
		t.Fatal(err)
	}
	for _, receiver := range []component.Component{forTraces, forMetrics} {
		if err := receiver.Start(context.Background(), componenttest.NewNopHost()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = receiver.Shutdown(context.Background()) })
	}
	return "http://" + address, traces, metrics
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// spansOf are the spans that were received, in order of their start.
func spansOf(traces *consumertest.TracesSink) []ptrace.Span {
	var all []ptrace.Span
	for _, batch := range traces.AllTraces() {
		for _, resource := range batch.ResourceSpans().All() {
			for _, scope := range resource.ScopeSpans().All() {
				for _, span := range scope.Spans().All() {
					all = append(all, span)
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b ptrace.Span) int { return int(a.StartTimestamp() - b.StartTimestamp()) })
	return all
}

// A trace of three attempts, the second of them hedged, with a hook that sees the
// run's span.
func TestSpans(t *testing.T) {
	var spans []ptrace.Span
	seen, commands := "", 0
	for range 20 { // a slow machine begins more copies, some of which are ended before they write
		spans, seen = traced(t)
		if commands = strings.Count(seen, "\n") - 1; commands >= 3 && len(spans) == 1+commands {
			break
		}
	}
	if commands < 3 || len(spans) != 1+commands {
		t.Fatalf("%d spans, and the commands saw\n%s", len(spans), seen)
	}
	run := spans[0]
	if run.Name() != "retry import" || run.ParentSpanID().String() != "b7ad6b7169203331" || run.Events().Len() != 2 ||
		run.Kind() != ptrace.SpanKindInternal {
		t.Errorf("run: %s, parent %s, %d events, kind %v", run.Name(), run.ParentSpanID(), run.Events().Len(),
			run.Kind())
	}
	if id := run.SpanID(); !strings.Contains(seen,
		"hook 00-0af7651916cd43dd8448eb211c80319c-"+hex.EncodeToString(id[:])+"-01") {
		t.Errorf("the hook did not see the run's span %s:\n%s", id, seen)
	}
	for _, attempt := range spans[1:] {
		if attempt.Name() != "import" || attempt.ParentSpanID() != run.SpanID() ||
			attempt.TraceID() != run.TraceID() || attempt.Kind() != ptrace.SpanKindClient {
			t.Errorf("attempt %s: parent %s, kind %v", attempt.Name(), attempt.ParentSpanID(), attempt.Kind())
		}
		if !strings.Contains(seen, attempt.SpanID().String()) {
			t.Errorf("no command saw the span %s:\n%s", attempt.SpanID(), seen)
		}
		if attempt.StartTimestamp() < run.StartTimestamp() || attempt.EndTimestamp() > run.EndTimestamp() {
			t.Errorf("attempt %s is not within the run", attempt.SpanID())
		}
	}
	if *update {
		picture := filepath.Join("..", "..", "docs", "trace.svg")
		if err := os.WriteFile(picture, draw(spans), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// traced makes the run, and returns its spans and a line of each command and of the hook.
func traced(t *testing.T) (spans []ptrace.Span, seen string) {
	t.Helper()
	address, traces, _ := collect(t)
	dir := t.TempDir()
	retry(t, dir, []string{"TRACEPARENT=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
		"--otlp", address, "--otlp-timeout", "1m", "--name", "import", "-n", "3", "--delays", "100ms,150ms",
		"--hedge", "150ms", "--stdin", "null", "--classify", "smart",
		"--after-success", "echo hook $TRACEPARENT >>seen", "--", "sh", "-c", `
			echo $RETRY_ATTEMPT $TRACEPARENT >>seen
			case $RETRY_ATTEMPT$RETRY_COPY in
			1?) sleep 0.05; echo "Connection reset by peer" >&2; exit 7;;
			20) sleep 0.2; exit 75;;
			2?) sleep 0.1; exit 75;;
			*) sleep 0.08;;
			esac`)
	text, err := os.ReadFile(filepath.Join(dir, "seen"))
	if err != nil {
		t.Fatal(err)
	}
	return spansOf(traces), string(text)
}

// The collector takes the metrics, with the names of the documentation.
func TestMetrics(t *testing.T) {
	address, traces, metrics := collect(t)
	retry(t, t.TempDir(), []string{"OTEL_METRICS_EXPORTER=otlp", "OTEL_EXPORTER_OTLP_ENDPOINT=" + address,
		"OTEL_TRACES_EXPORTER=none"},
		"--otlp", "auto", "-n", "2", "--delays", "1ms", "--", "false")
	if n := traces.SpanCount(); n != 0 {
		t.Errorf("%d spans", n)
	}
	var names []string
	for _, batch := range metrics.AllMetrics() {
		for _, metric := range batch.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().All() {
			names = append(names, metric.Name())
		}
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "retry.attempt.duration retry.attempts retry.delay "+
		"retry.run.attempts retry.run.duration retry.runs" {
		t.Errorf("metrics: %s", got)
	}
}

// written is a directory with a file of several runs.
func written(t *testing.T) string {
	dir := t.TempDir()
	for _, args := range [][]string{
		{"-n", "2", "--delays", "1ms", "--", "false"}, {"--", "true"},
		{"-n", "1", "--timeout", "20ms", "--", "sleep", "10"},
		{"--name", "a\"b\\c é", "--", "true"},
		{"--key", "k", "--store", "file:" + dir, "--breaker", "1,open=1h", "-n", "1", "--", "false"},
		{"--key", "k", "--store", "file:" + dir, "--breaker", "1,open=1h", "-n", "1", "--", "false"},
	} {
		retry(t, dir, nil, slices.Concat([]string{"--metrics-file", "retry.prom"}, args)...)
	}
	return dir
}

// Prometheus reads the file, and its linter finds nothing.
func TestMetricsFile(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(written(t), "retry.prom"))
	if err != nil {
		t.Fatal(err)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(families) != 8 {
		t.Errorf("%d families:\n%s", len(families), text)
	}
	problems, err := promlint.New(bytes.NewReader(text)).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}

// node_exporter serves the file.
func TestNodeExporter(t *testing.T) {
	exporter, err := exec.LookPath("prometheus-node-exporter")
	if err != nil {
		t.Skip("prometheus-node-exporter is not installed")
	}
	address := freeAddress(t)
	cmd := exec.Command(exporter, "--collector.disable-defaults", "--collector.textfile",
		"--collector.textfile.directory", written(t), "--web.listen-address", address)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	var page string
	// until it listens
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		answer, err := http.Get("http://" + address + "/metrics")
		if err == nil {
			body, _ := io.ReadAll(answer.Body)
			_ = answer.Body.Close()
			page = string(body)
			break
		}
	}
	for _, line := range []string{"node_textfile_scrape_error 0",
		`retry_runs_total{name="false",outcome="exhausted"} 2`, `retry_refused_total{guard="breaker",name="false"} 1`} {
		if !strings.Contains(page, line+"\n") {
			t.Errorf("%s is missing in\n%s", line, page)
		}
	}
}
