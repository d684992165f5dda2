package policy

// This file lists the policies that can be asked for.

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/retrysh/retry/cli/option"
)

// all are the policies that --policy can name, in the order in which they are found.
func (s *policySet) all() (all []option.Known) {
	for _, def := range s.policies {
		if s.byName[def.name] == def {
			all = append(all, option.Known{Name: def.name, Source: def.place.String(), Inherit: def.parent, Tools: def.tools})
		}
	}
	return all
}

// List prints each policy and where it is defined.
func List(out io.Writer, o *option.Options) error {
	all := o.Chosen.All
	if o.LogFormat == "json" {
		return json.NewEncoder(out).Encode(struct {
			Policies []option.Known `json:"policies"`
		}{all})
	}
	width := 0
	for _, p := range all {
		width = max(width, len(p.Name))
	}
	var b strings.Builder
	for _, p := range all {
		about := ""
		if p.Inherit != "" {
			about = "  inherits " + p.Inherit
		}
		if len(p.Tools) > 0 {
			about += "  applies to " + strings.Join(p.Tools, " ")
		}
		fmt.Fprintf(&b, "%-*s  %s%s\n", width, p.Name, p.Source, about)
	}
	_, err := io.WriteString(out, b.String())
	return err
}
