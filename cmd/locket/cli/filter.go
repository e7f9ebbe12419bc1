package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locket-dev/locket/memory/filter"
)

// filterHelp is part of the help of each command that has --where.
const filterHelp = `
--where selects memories by their fields. Operators: = != < <= > >= in, not in, contains, icontains,
exists. Combine them with and, or, not and parentheses. The fields:
  %s,
  metadata.KEY`

// fieldsInLine is how many field names fit on a line.
const fieldsInLine = 8

func WithFilterHelp(text string) string {
	names := filter.Fields()
	var lines []string
	for some := range slices.Chunk(names, fieldsInLine) {
		lines = append(lines, strings.Join(some, ", "))
	}
	return strings.TrimLeft(text+"\n"+fmt.Sprintf(filterHelp, strings.Join(lines, ",\n  ")), "\n")
}

// ReadFilter parses the value of --where.
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

// LinesOfBatch is how many lines are sent in one request.
const LinesOfBatch = 200
