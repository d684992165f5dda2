package cli

// This file has a run write a line into the history (docs/history.md).

import (
	"context"
	"os"
	"strings"

	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/engine"
	tool "github.com/retrysh/retry/engine/classify/command"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/history"
)

// historian is the sink that writes the line when the run has ended.
type historian struct {
	history.Recorder
	value string // of --history
	out   *output
}

// keepHistory has the run of e recorded, where --history asks for it.
func keepHistory(o *option.Options, r *redriven, e *engine.Engine, out *output) {
	if o.History == "off" {
		return
	}
	h := &historian{value: o.History, out: out}
	h.Tool = func() string { name, _ := tool.Find(o.Command); return name }
	h.Cwd, _ = os.Getwd()
	h.Host, _ = os.Hostname()
	h.Commit, h.CI = firstSet(commitVariables), systemOfCI()
	h.UntilFailure, h.Repeat, h.Redriven = o.Policy.UntilFailure, o.Policy.Repeat, r != nil
	h.ParentRunID = e.Identity.ParentRunID
	if h.ParentRunID == "" && e.Identity.Depth > 1 {
		h.ParentRunID = os.Getenv("RETRY_RUN_ID")
	}
	out.sinks = append(out.sinks, h)
}

// Emit writes the line after the last event.
func (h *historian) Emit(ev event.Event) {
	if record := h.Recorder.Emit(ev); record != nil {
		if err := history.Append(h.value, record.Encode()); err != nil {
			h.out.complain("the run is not in the history: %v", err)
		}
	}
}

// Close has nothing to do.
func (h *historian) Close(context.Context) error { return nil }

// commitVariables are those in which CI systems name the commit.
var commitVariables = []string{"GITHUB_SHA", "CI_COMMIT_SHA", "BUILDKITE_COMMIT", "CIRCLE_SHA1", "GIT_COMMIT", "BUILD_SOURCEVERSION"}

func firstSet(variables []string) string {
	for _, name := range variables {
		if value := strings.TrimSpace(os.Getenv(name)); value != "" {
			return value
		}
	}
	return ""
}

// systemOfCI is the CI system that the program runs in, by the variable that each
// sets for its jobs; "" for none.
func systemOfCI() string {
	for _, system := range [...]struct{ variable, name string }{
		{"GITHUB_ACTIONS", "github"}, {"GITLAB_CI", "gitlab"}, {"BUILDKITE", "buildkite"}, {"CIRCLECI", "circleci"}, {"JENKINS_URL", "jenkins"},
		{"TF_BUILD", "azure"}, {"TEAMCITY_VERSION", "teamcity"}, {"TRAVIS", "travis"}, {"BITBUCKET_BUILD_NUMBER", "bitbucket"}, {"DRONE", "drone"},
		{"CODEBUILD_BUILD_ID", "codebuild"}, {"APPVEYOR", "appveyor"}, {"CIRRUS_CI", "cirrus"},
	} {
		if os.Getenv(system.variable) != "" {
			return system.name
		}
	}
	return ""
}
