package telemetry

// This file posts what otlp_json.go encodes: HTTP/1.1, no proxy, no redirect, no
// second try. Errors name scheme, host and port, never userinfo, query or
// headers.

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/retrysh/retry/engine/lockedfile"
	"github.com/retrysh/retry/engine/text"
)

// mostAnswer is how many bytes of an answer's head, and of its body, are read;
// mostQuoted how many characters of what it says are shown; mostCertificates how many
// bytes a file of certificates has (that of all public authorities has 300 KiB).
const (
	mostAnswer       = 64 << 10
	mostQuoted       = 200
	mostCertificates = 8 << 20
)

// send posts the spans and the metrics side by side and returns one error for
// both.
func (o *OTLP) send(ctx context.Context, r *run) error {
	ctx, cancel := context.WithTimeoutCause(ctx, o.timeout, fmt.Errorf("no answer within %v", o.timeout))
	defer cancel()
	roots, err := o.roots()
	if err != nil {
		return err
	}
	transport := &http.Transport{
		DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: mostAnswer,
		TLSClientConfig: &tls.Config{RootCAs: roots},
		TLSNextProto:    map[string]func(string, *tls.Conn) http.RoundTripper{}, // HTTP/1.1 alone
	}
	client := &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	var posts []func() error
	if o.traces != nil && r.Start.Sampled {
		posts = append(posts, func() error { return o.post(ctx, client, o.traces, r, o.spans) })
	}
	if o.metrics != nil && !r.Rehearsed {
		posts = append(posts, func() error { return o.post(ctx, client, o.metrics, r, o.metricsJSON) })
	}
	return sideBySide(posts)
}

// roots are the certificates of the file that was named, nil for the system's.
func (o *OTLP) roots() (*x509.CertPool, error) {
	if o.certificate == "" {
		return nil, nil
	}
	pem, err := lockedfile.ReadRegular(o.certificate, 0, mostCertificates)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%q holds no PEM certificate", o.certificate)
	}
	return roots, nil
}

// post sends one request.
func (o *OTLP) post(ctx context.Context, client *http.Client, u *url.URL, r *run,
	encode func(*run) ([]byte, error)) error {
	body, err := encode(r)
	if err != nil {
		return err
	}
	bare := *u
	bare.User = nil
	shown := u.Scheme + "://" + u.Host
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, bare.String(), bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%s: bad address", shown)
	}
	if u.User != nil {
		password, _ := u.User.Password()
		request.SetBasicAuth(u.User.Username(), password)
	}
	for _, h := range o.headers {
		request.Header.Set(h.name, h.value)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("%s: %s", shown, quoted(reasonOf(ctx, err).Error()))
	}
	defer func() { _ = response.Body.Close() }()
	var answer []byte
	if response.StatusCode != http.StatusSwitchingProtocols { // whose body is the connection, which has no limit
		answer, _, _ = text.ReadUpTo(response.Body, mostAnswer)
	}
	return judge(shown, response.StatusCode, response.Header.Get("Content-Type"), answer)
}

// reasonOf is why a request failed, without the address that net/http adds.
func reasonOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if wrapped := new(url.Error); errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// judge returns an error if an answer is not 2xx, or is a partial success with
// rejects. The rest of the body of a 2xx answer does not matter.
func judge(shown string, status int, kind string, body []byte) error {
	var says struct {
		Message        string `json:"message"`
		ErrorMessage   string `json:"errorMessage"`
		PartialSuccess struct {
			// A number, or a string with one (the JSON of Protocol Buffers, int64).
			Spans        json.Number `json:"rejectedSpans"`
			Points       json.Number `json:"rejectedDataPoints"`
			ErrorMessage string      `json:"errorMessage"`
		} `json:"partialSuccess"`
	}
	isJSON := json.Unmarshal(body, &says) == nil
	if status/100 == 2 {
		for _, rejected := range []json.Number{says.PartialSuccess.Spans, says.PartialSuccess.Points} {
			if rejected != "" && rejected != "0" {
				return fmt.Errorf("%s: %s rejected%s", shown, quoted(rejected.String()),
					because(says.PartialSuccess.ErrorMessage))
			}
		}
		return nil
	}
	message := says.Message
	if message == "" {
		message = says.ErrorMessage
	}
	if message == "" && !isJSON && (kind == "" || strings.HasPrefix(kind, "text/plain")) {
		message = lastLines(string(body))
	}
	return fmt.Errorf("%s: HTTP status %d%s", shown, status, because(message))
}

// lastLines are as many of the last lines of a text as are quoted, and at least one: an
// error stands at the end.
func lastLines(body string) string {
	var last []string
	length := 0
	lines := strings.Split(strings.TrimSpace(body), "\n")
	for _, line := range slices.Backward(lines) {
		if line = quoted(line); line == "" {
			continue
		}
		if length += len([]rune(line)) + 1; length > mostQuoted+1 && last != nil {
			break
		}
		last = append(last, line)
	}
	slices.Reverse(last)
	return strings.Join(last, " ")
}

func because(message string) string {
	if message = quoted(message); message == "" {
		return ""
	}
	return ": " + message
}

// quoted is what the other side says, in one line.
func quoted(message string) string {
	runes := []rune(strings.TrimSpace(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, message)))
	return string(runes[:min(len(runes), mostQuoted)])
}

// sideBySide runs all and joins their errors in one line.
func sideBySide(posts []func() error) error {
	results := make(chan error, len(posts))
	for _, post := range posts {
		go func() { results <- post() }()
	}
	var failed []string
	for range posts {
		if err := <-results; err != nil && !slices.Contains(failed, err.Error()) {
			failed = append(failed, err.Error())
		}
	}
	if len(failed) == 0 {
		return nil
	}
	return errors.New(strings.Join(failed, "; "))
}
