package telemetry

// This file reads --otlp and the OTEL_ variables
// (opentelemetry.io/docs/specs/otel/protocol/exporter and
// .../configuration/sdk-environment-variables).

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// OTLP says what is sent where.
type OTLP struct {
	traces, metrics *url.URL // nil: not sent
	headers         []pair
	certificate     string // a PEM file, "" for the system's
	resource        []pair
	timeout         time.Duration
	args            bool
}

// Auto is the value of --otlp that takes the endpoint from the variables.
const Auto = "auto"

// CheckOTLP returns an error if the value of --otlp is neither auto nor an
// address.
func CheckOTLP(value string) error {
	if value == Auto {
		return nil
	}
	_, err := endpoint(value)
	return err
}

// endpoint reads an http or https address.
func endpoint(text string) (*url.URL, error) {
	const hint = "write http://host:4318, https://host:4318 or auto"
	u, err := url.Parse(text)
	switch {
	case err != nil || !strings.Contains(text, "://"):
		if strings.ContainsAny(text, "@?") { // it may hold a password
			return nil, errors.New("is not an address; " + hint)
		}
		return nil, fmt.Errorf("%q is not an address; %s", text, hint)
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("%q is not a scheme; %s", u.Scheme, hint)
	case u.Hostname() == "":
		return nil, errors.New("has no host; write http://host:4318 or auto")
	}
	if n, err := strconv.ParseUint(u.Port(), 10, 16); u.Port() != "" && (err != nil || n == 0) {
		return nil, fmt.Errorf("%q is not a port from 1 to 65535", u.Port())
	}
	u.Fragment = ""
	return u, nil
}

// signals are the two that are sent, as their variables name them.
const (
	forTraces  = "TRACES"
	forMetrics = "METRICS"
)

// reader reads the variables; warnings are lines about bad values, quiet ones
// lines for verbose mode.
type reader struct {
	lookup          func(string) string
	warnings, notes []string
}

// of returns the variable of a signal, or else the common one, and its value.
func (r *reader) of(signal, what string) (name, value string) {
	name = "OTEL_EXPORTER_OTLP_" + signal + "_" + what
	if value = r.lookup(name); value == "" {
		name = "OTEL_EXPORTER_OTLP_" + what
		value = r.lookup(name)
	}
	return name, value
}

func (r *reader) warn(format string, args ...any) {
	r.warnings = append(r.warnings, fmt.Sprintf(format, args...))
}

// otlpFrom reads the configuration. limit is the value of --otlp-timeout,
// limitGiven says that it was given.
func otlpFrom(c *Config, r *reader) *OTLP {
	if strings.EqualFold(r.lookup("OTEL_SDK_DISABLED"), "true") {
		r.notes = append(r.notes, "--otlp: OTEL_SDK_DISABLED is true; nothing is sent")
		return nil
	}
	o := &OTLP{timeout: c.OTLPTimeout, args: c.OTLPArgs}
	if wanted := r.lookup("OTEL_TRACES_EXPORTER"); wanted == "" || names(wanted, "otlp") {
		o.traces = r.target(c.OTLP, forTraces)
	}
	if names(r.lookup("OTEL_METRICS_EXPORTER"), "otlp") {
		o.metrics = r.target(c.OTLP, forMetrics)
	}
	if o.traces == nil && o.metrics == nil {
		return nil
	}
	if text := r.lookup("OTEL_EXPORTER_OTLP_TIMEOUT"); text != "" && !c.OTLPTimeoutGiven {
		ms, err := strconv.ParseUint(text, 10, 31)
		if err != nil || ms == 0 {
			r.warn("OTEL_EXPORTER_OTLP_TIMEOUT: %q is not a number of milliseconds above 0", text)
		} else {
			o.timeout = min(o.timeout, time.Duration(ms)*time.Millisecond)
		}
	}
	o.headers = r.headers()
	_, o.certificate = r.of(forTraces, "CERTIFICATE")
	o.resource = r.resource()
	return o
}

// names reports whether a comma separated list holds the word.
func names(list, word string) bool {
	return slices.ContainsFunc(strings.Split(list, ","), func(s string) bool { return strings.TrimSpace(s) == word })
}

// target is where a signal is sent, nil if it is not.
func (r *reader) target(flag, signal string) *url.URL {
	path := "v1/" + strings.ToLower(signal)
	if flag != Auto {
		u, err := endpoint(flag)
		if err != nil {
			return nil // CheckOTLP has refused it
		}
		return u.JoinPath(path)
	}
	name, text := r.of(signal, "ENDPOINT")
	if text == "" {
		r.notes = append(r.notes,
			"--otlp auto: neither OTEL_EXPORTER_OTLP_ENDPOINT nor OTEL_EXPORTER_OTLP_"+signal+"_ENDPOINT is set; no "+
				strings.ToLower(signal)+" are sent")
		return nil
	}
	if !r.protocol(signal) {
		return nil
	}
	u, err := endpoint(text)
	if err != nil {
		r.warn("%s: %v; nothing is sent", name, err)
		return nil
	}
	if name == "OTEL_EXPORTER_OTLP_ENDPOINT" { // a base
		u = u.JoinPath(path)
	}
	return u
}

// protocol reports whether the variables leave HTTP as the protocol.
func (r *reader) protocol(signal string) bool {
	name, text := r.of(signal, "PROTOCOL")
	switch text {
	case "", "http/json", "http/protobuf": // a receiver of HTTP takes both
		return true
	case "grpc":
		r.notes = append(r.notes,
			"--otlp auto: "+name+" is grpc, which is not supported; no "+strings.ToLower(signal)+" are sent")
		return false
	}
	r.warn("%s: %q is not grpc, http/protobuf or http/json; http/json is used", name, text)
	return true
}

// pair is a header, or an attribute of the resource.
type pair struct{ name, value string }

// pairs reads NAME=VALUE,NAME=VALUE with percent-encoded values.
func (r *reader) pairs(variable string) []pair {
	var all []pair
	for entry := range strings.SplitSeq(r.lookup(variable), ",") {
		if strings.TrimSpace(entry) == "" {
			continue
		}
		name, value, ok := strings.Cut(entry, "=")
		name = strings.TrimSpace(name)
		decoded, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || err != nil || name == "" {
			r.warn("%s: an entry is not NAME=VALUE with a percent-encoded value; it is ignored", variable)
			continue
		}
		all = append(all, pair{name, decoded})
	}
	return all
}

// headers are those of the variables; a signal's own replaces a common one.
func (r *reader) headers() []pair {
	var all []pair
	for _, variable := range []string{"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"} {
		for _, h := range r.pairs(variable) {
			if strings.ContainsFunc(h.value, unicode.IsControl) || !token(h.name) {
				r.warn("%s: header %q has a control character or is not a header's name; it is not sent", variable,
					h.name)
				continue
			}
			all = append(slices.DeleteFunc(all, func(o pair) bool { return strings.EqualFold(o.name, h.name) }), h)
		}
	}
	return all
}

// token reports whether a text is a header's name (RFC 9110, section 5.6.2).
func token(name string) bool {
	return strings.Trim(name, "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// resource are the attributes of the resource, service.name first.
func (r *reader) resource() []pair {
	service := "retry"
	var others []pair
	for _, a := range r.pairs("OTEL_RESOURCE_ATTRIBUTES") {
		if a.name == "service.name" {
			service = a.value
			continue
		}
		others = append(others, a)
	}
	if name := r.lookup("OTEL_SERVICE_NAME"); name != "" {
		service = name
	}
	return append([]pair{{"service.name", service}}, others...)
}
