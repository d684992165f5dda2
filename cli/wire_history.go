package cli

// This file has a run write a line into the history (docs/history.md).

import (
	"cmp"
	"os"
	"strings"

	tool "github.com/retrysh/retry/engine/classify/command"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/history"
)

// keepHistory has the run recorded if --history asks for it.
func (w *wiring) keepHistory() {
	o, id := w.o, &w.e.Identity
	if o.History == "off" {
		return
	}
	env := func(name string) string { return strings.TrimSpace(os.Getenv(name)) }
	h := &history.Recorder{
		ParentRunID: id.ParentRunID, CI: systemOfCI(),
		Commit: cmp.Or(
			env("GITHUB_SHA"), env("CI_COMMIT_SHA"), env("BUILDKITE_COMMIT"),
			env("CIRCLE_SHA1"), env("GIT_COMMIT"), env("BUILD_SOURCEVERSION"),
		),
		UntilFailure: o.Policy.UntilFailure, Repeat: o.Policy.Repeat, Redriven: w.letter != nil,
		Tool: func() string { return tool.Find(o.Command) },
	}
	h.Cwd, _ = os.Getwd()
	h.Host, _ = os.Hostname()
	if h.ParentRunID == "" && id.Depth > 1 {
		h.ParentRunID = os.Getenv("RETRY_RUN_ID")
	}
	w.out.sinks = append(w.out.sinks, func(e event.Event) {
		if _, ended := e.(*event.RunFinished); !ended {
			return
		}
		if err := history.Append(string(o.History), h.Record(&w.out.run).Encode()); err != nil {
			w.out.warn("the run is not in the history: " + err.Error())
		}
	})
}

// systemOfCI is the CI system of the job, by the variable that it sets, or "".
func systemOfCI() string {
	for _, system := range [...]struct{ variable, name string }{
		{"GITHUB_ACTIONS", "github"}, {"GITLAB_CI", "gitlab"}, {"BUILDKITE", "buildkite"},
		{"CIRCLECI", "circleci"}, {"JENKINS_URL", "jenkins"},
		{"TF_BUILD", "azure"}, {"TEAMCITY_VERSION", "teamcity"}, {"TRAVIS", "travis"},
		{"BITBUCKET_BUILD_NUMBER", "bitbucket"}, {"DRONE", "drone"},
		{"CODEBUILD_BUILD_ID", "codebuild"}, {"APPVEYOR", "appveyor"}, {"CIRRUS_CI", "cirrus"},
	} {
		if os.Getenv(system.variable) != "" {
			return system.name
		}
	}
	return ""
}
