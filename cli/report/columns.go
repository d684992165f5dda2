package report

// This file has the columns of the table of groups. Each format chooses among them.

import (
	"fmt"
	"strconv"

	"github.com/retrysh/retry/engine/history"
	"github.com/retrysh/retry/engine/message"
)

// percent turns a share into a percentage.
const percent = 100

// column is what stands above a column, on a terminal in a short form, and what it says of a
// group.
type column struct {
	heading, short string
	cell           func(*history.Group) string
}

var (
	classColumn = column{
		heading: "class", short: "CLASS",
		cell: func(g *history.Group) string { return g.Class },
	}
	sparkColumn = column{
		heading: "failed attempts over time", short: "FAILED OVER TIME",
		cell: spark,
	}
	runsColumn = column{
		heading: "runs", short: "RUNS",
		cell: func(g *history.Group) string { return strconv.Itoa(g.Runs) },
	}
	firstColumn = column{
		heading: "first attempt", short: "FIRST",
		cell: func(g *history.Group) string { return strconv.Itoa(g.FirstAttempt) },
	}
	recoveredColumn = column{
		heading: "recovered", short: "RECOVERED",
		cell: func(g *history.Group) string { return strconv.Itoa(g.Recovered) },
	}
	gaveUpColumn = column{
		heading: "gave up", short: "GAVE UP",
		cell: func(g *history.Group) string { return strconv.Itoa(g.GaveUp) },
	}
	retriedColumn = column{
		heading: "retried", short: "RETRIED",
		cell: func(g *history.Group) string { return strconv.Itoa(g.Retried) },
	}
	atLeastColumn = column{
		heading: "recovered at least", short: "AT LEAST",
		cell: func(g *history.Group) string { return fmt.Sprintf("%.1f %%", g.WilsonLow*percent) },
	}
	lostColumn = column{
		heading: "lost", short: "LOST",
		cell: func(g *history.Group) string { return message.Duration(milliseconds(g.LostMS)) },
	}
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
