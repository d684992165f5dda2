package cli

// This file has a run write a line into the history (docs/history.md).

import (
	"os"
	"strings"

	tool "github.com/retrysh/retry/engine/classify/command"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/history"
)

// keepHistory has the run recorded, where --history asks for it.
func (w *wiring) keepHistory() {
	o, id := w.o, &w.e.Identity
	if o.History == "off" {
		return
	}
	h := &history.Recorder{
		ParentRunID: id.ParentRunID, Commit: commitOfCI(), CI: systemOfCI(),
		UntilFailure: o.Policy.UntilFailure, Repeat: o.Policy.Repeat, Redriven: w.letter != nil,
		Tool: func() string { return tool.Find(o.Command) },
	}
	h.Cwd, _ = os.Getwd()
	h.Host, _ = os.Hostname()
	if h.ParentRunID == "" && id.Depth > 1 {
		h.ParentRunID = os.Getenv("RETRY_RUN_ID")
	}
	w.sinks = append(w.sinks, func(e event.Event) {
		if record := h.Emit(e); record != nil { // after the last event
			if err := history.Append(o.History, record.Encode()); err != nil {
				w.complain("the run is not in the history: " + err.Error())
			}
		}
	})
}

// commitOfCI is the commit of the job, by the variable in which its CI system names it.
func commitOfCI() string {
	for _, name := range []string{"GITHUB_SHA", "CI_COMMIT_SHA", "BUILDKITE_COMMIT", "CIRCLE_SHA1", "GIT_COMMIT", "BUILD_SOURCEVERSION"} {
		if value := strings.TrimSpace(os.Getenv(name)); value != "" {
			return value
		}
	}
	return ""
}

// systemOfCI is the CI system of the job, by the variable that it sets, or "".
func systemOfCI() string {
	for _, system := range [...][2]string{
		{"GITHUB_ACTIONS", "github"}, {"GITLAB_CI", "gitlab"}, {"BUILDKITE", "buildkite"}, {"CIRCLECI", "circleci"}, {"JENKINS_URL", "jenkins"},
		{"TF_BUILD", "azure"}, {"TEAMCITY_VERSION", "teamcity"}, {"TRAVIS", "travis"}, {"BITBUCKET_BUILD_NUMBER", "bitbucket"}, {"DRONE", "drone"},
		{"CODEBUILD_BUILD_ID", "codebuild"}, {"APPVEYOR", "appveyor"}, {"CIRRUS_CI", "cirrus"},
	} {
		if os.Getenv(system[0]) != "" {
			return system[1]
		}
	}
	return ""
}
