package report

// This file has the columns of the table of groups. Each format chooses among them.

import (
	"fmt"
	"strconv"

	"github.com/retrysh/retry/engine/history"
	"github.com/retrysh/retry/engine/message"
)

// column is what stands above a column, on a terminal in a short form, and what it says of a
// group.
type column struct {
	heading, short string
	cell           func(*history.Group) string
}

var (
	classColumn     = column{"class", "CLASS", func(g *history.Group) string { return g.Class }}
	sparkColumn     = column{"failed attempts over time", "FAILED OVER TIME", spark}
	runsColumn      = column{"runs", "RUNS", func(g *history.Group) string { return strconv.Itoa(g.Runs) }}
	firstColumn     = column{"first attempt", "FIRST", firstAttempt}
	recoveredColumn = column{"recovered", "RECOVERED", recovered}
	gaveUpColumn    = column{"gave up", "GAVE UP", func(g *history.Group) string { return strconv.Itoa(g.GaveUp) }}
	retriedColumn   = column{"retried", "RETRIED", func(g *history.Group) string { return strconv.Itoa(g.Retried) }}
	atLeastColumn   = column{"recovered at least", "AT LEAST", atLeast}
	lostColumn      = column{"lost", "LOST", lost}
)

// figures are the columns between class and spark line in Markdown and HTML.
func figures() []column {
	return []column{
		runsColumn, firstColumn, recoveredColumn, gaveUpColumn, retriedColumn, atLeastColumn, lostColumn,
	}
}

// cells are what the columns say of a group.
func cells(columns []column, g *history.Group) []string {
	var all []string
	for _, c := range columns {
		all = append(all, c.cell(g))
	}
	return all
}

func firstAttempt(g *history.Group) string { return strconv.Itoa(g.FirstAttempt) }

func recovered(g *history.Group) string { return strconv.Itoa(g.Recovered) }

func atLeast(g *history.Group) string {
	const percent = 100
	return fmt.Sprintf("%.1f %%", g.WilsonLow*percent)
}

func lost(g *history.Group) string { return message.Duration(milliseconds(g.LostMS)) }
