package carry

import "strings"

// Lines lays out a text for a display with the given columns and rows, breaking it at spaces if
// there are any. A text that does not fit is cut, and ends with "…".
func Lines(text string, columns, rows int) string {
	var lines []string
	for _, part := range strings.Split(text, "\n") {
		var line []rune
		for _, word := range strings.Fields(part) {
			w := []rune(word)
			if len(line) > 0 && len(line)+1+len(w) > columns {
				lines, line = append(lines, string(line)), nil
			}
			if len(line) > 0 {
				line = append(line, ' ')
			}
			for line = append(line, w...); len(line) > columns; line = line[columns:] {
				lines = append(lines, string(line[:columns]))
			}
		}
		if len(line) > 0 {
			lines = append(lines, string(line))
		}
	}
	if len(lines) > rows {
		lines = lines[:rows]
		last := []rune(lines[rows-1])
		lines[rows-1] = string(last[:min(len(last), columns-1)]) + "…"
	}
	return strings.Join(lines, "\n")
}
