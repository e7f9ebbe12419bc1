package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locket-dev/locket/memory/filter"
)

// filterHelp is in the help of each command that has --where.
const filterHelp = `
--where chooses by fields: = != < <= > >= in, not in, contains, icontains, exists, joined by
and, or, not and parentheses. The fields:
  %s,
  metadata.KEY`

// fieldsInLine is how many names of fields a line has room for.
const fieldsInLine = 8

func WithFilterHelp(text string) string {
	names := filter.Fields()
	var lines []string
	for some := range slices.Chunk(names, fieldsInLine) {
		lines = append(lines, strings.Join(some, ", "))
	}
	return strings.TrimLeft(text+"\n"+fmt.Sprintf(filterHelp, strings.Join(lines, ",\n  ")), "\n")
}

// ReadFilter takes the line after --where.
func (a *App) ReadFilter(line string) (filter.Filter, error) {
	if line == "" {
		return filter.Filter{}, nil
	}
	l, err := a.Load()
	if err != nil {
		return filter.Filter{}, err
	}
	zone, err := l.Location()
	if err != nil {
		return filter.Filter{}, err
	}
	f, err := filter.Parse(line, zone)
	if err != nil {
		return f, Usagef("--where: %v", err)
	}
	return f, nil
}

// LinesOfBatch is how many lines go into one request.
const LinesOfBatch = 200
