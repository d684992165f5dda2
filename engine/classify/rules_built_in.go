package classify

// This file reads the built-in rules and shapes. A test parses them the strict way, so that a
// run need not compile each pattern.

import (
	_ "embed" // for the rules
	"strings"
	"sync"
)

// exitRules are the rules without a pattern.
//
//go:embed rules/exits.rules
var exitRules string

// The rules with patterns. An embedded string is not copied when it is read.
var (
	//go:embed rules/general-http.rules
	httpRules string
	//go:embed rules/general-local.rules
	localRules string
	//go:embed rules/general-network.rules
	networkRules string
	//go:embed rules/general-protocols.rules
	protocolRules string
	//go:embed rules/general-refusals.rules
	refusalRules string
	//go:embed rules/general-tests.rules
	testRules string
	//go:embed rules/tools-cloud.rules
	cloudRules string
	//go:embed rules/tools-packages.rules
	packageRules string
	//go:embed rules/tools-servers.rules
	serverRules string
	//go:embed rules/tools-system.rules
	systemRules string
	//go:embed rules/tools-transfer.rules
	transferRules string
	//go:embed rules/tools-vcs.rules
	vcsRules string
)

var patternFiles = []struct{ name, text string }{
	{"general-http.rules", httpRules}, {"general-local.rules", localRules}, {"general-network.rules", networkRules},
	{"general-protocols.rules", protocolRules}, {"general-refusals.rules", refusalRules},
	{"general-tests.rules", testRules},
	{"tools-cloud.rules", cloudRules}, {"tools-packages.rules", packageRules}, {"tools-servers.rules", serverRules},
	{"tools-system.rules", systemRules}, {"tools-transfer.rules", transferRules}, {"tools-vcs.rules", vcsRules},
}

// literalsFile has the required literals of each built-in pattern, one line each in the
// patterns' order, separated by tabs, two sets by two tabs: to find them takes longer than
// to judge. A test compares the file and, with -update, writes it (TestLiteralsAreCurrent).
//
//go:embed literals.tsv
var literalsFile string

// readExits reads the rules without a pattern that are for a tool or for any, all for "".
// Of sixty, most are for one tool: to read all would take a tenth of a run with one failure.
func readExits(tool string) []*Rule {
	var none string
	return readBuiltIn("exits.rules", blocksFor(exitRules, tool), &none)
}

// blocksFor returns the text of rules with blank lines in place of the blocks for other
// tools. A block has at most one line of tools.
func blocksFor(rules, tool string) string {
	if tool == "" {
		return rules
	}
	var kept strings.Builder
	kept.Grow(4 << 10)
	for block := range strings.SplitAfterSeq(rules, "\n\n") {
		_, tools, some := strings.Cut(block, "\ntools ")
		tools, _, _ = strings.Cut(tools, "\n")
		if !some || hasWord(tools, tool) {
			kept.WriteString(block)
			continue
		}
		for range strings.Count(block, "\n") {
			kept.WriteByte('\n')
		}
	}
	return kept.String()
}

func hasWord(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if w == word {
			return true
		}
	}
	return false
}

func readPatterns() []*Rule {
	rules, _ := builtInPatterns()
	return rules
}

// builtInPatterns reads the rules with patterns and the shapes, whose literals are in one
// file.
var builtInPatterns = sync.OnceValues(readBuiltInPatterns)

func readBuiltInPatterns() (rules []*Rule, shapes []*shape) {
	literals := literalsFile
	for _, file := range patternFiles {
		rules = append(rules, readBuiltIn(file.name, file.text, &literals)...)
	}
	shapes, _ = parseShapes(kindsFile, &literals)
	return rules, shapes
}

func readBuiltIn(name, text string, literals *string) []*Rule {
	p, err := parseRules("built-in/"+name, text, literals)
	if err != nil {
		return nil // a test proves that this does not happen
	}
	return p.rules
}
