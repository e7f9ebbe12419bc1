package memory

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/internal/sorting"
)

// CoreFields are the fields of a core memory: a block that is always in the context. Its value is
// the memory's text, with one statement per line. A wearer may have several memories of one block,
// each with its own evidence; a reader sees them as one block.
type CoreFields struct {
	Block string `json:"block"` // "persona", "human", or the wearer's own name for it
	Limit int    `json:"limit"` // characters, of all memories of the block
}

// CoreLimit is a block's default limit. It is Letta's default.
const CoreLimit = 2000

// full is the percentage of its limit above which a block is rewritten.
const full = 90

func (f *CoreFields) validate() error {
	if f == nil {
		return wrong("core", "block and limit are needed")
	}
	if strings.TrimSpace(f.Block) == "" {
		return wrong("core.block", "empty")
	}
	if f.Limit <= 0 || f.Limit > MaxText {
		return wrong("core.limit", "%d, want 1 to %d characters", f.Limit, MaxText)
	}
	return names(Core, [2]string{"block", f.Block})
}

// Full reports whether a value of so many characters has to be rewritten, which is above 90 % of
// the limit.
func (f *CoreFields) Full(characters int) bool { return characters*100 > f.Limit*full }

// AppendLine adds a statement to a block's value. A line that differs from an existing one only in
// case or punctuation is not added again.
func AppendLine(value, line string) (string, error) {
	line = strings.TrimSpace(line)
	switch {
	case line == "":
		return "", fmt.Errorf("%w: append: empty", ErrInvalid)
	case strings.ContainsAny(line, "\r\n"):
		return "", fmt.Errorf("%w: append: more than one line", ErrInvalid)
	}
	for have := range strings.Lines(value) {
		if Normal(have) == Normal(line) {
			return value, nil
		}
	}
	if value = strings.TrimRight(value, "\n"); value == "" {
		return line, nil
	}
	return value + "\n" + line, nil
}

// ReplaceText replaces the single occurrence of old in a block's value. If with is empty, it
// removes old, and the line if nothing else is on it.
func ReplaceText(value, old, with string) (string, error) {
	if old == "" {
		return "", fmt.Errorf("%w: replace.old: empty", ErrInvalid)
	}
	switch n := strings.Count(value, old); n {
	case 1:
	case 0:
		return "", fmt.Errorf("%w: replace.old: %q is not in it", ErrInvalid, old)
	default:
		return "", fmt.Errorf("%w: replace.old: %q occurs in it %d times: give more of the text around it", ErrInvalid, old, n)
	}
	value = strings.Replace(value, old, with, 1)
	lines := slices.DeleteFunc(strings.Split(value, "\n"), func(l string) bool { return strings.TrimSpace(l) == "" })
	if len(lines) == 0 {
		return "", fmt.Errorf("%w: replace: nothing would be left of it", ErrInvalid)
	}
	return strings.Join(lines, "\n"), nil
}

// CoreLine is one statement of a block, with what is known about it.
type CoreLine struct {
	Text string
	Uses int  // how often it was useful
	Past bool // is no longer true: a superseded memory says it
	Keep bool // pinned: it always stays
}

// Condensed says which lines of a full block stay, go or move. Every line is in exactly one of the
// three, by its index in the block.
type Condensed struct {
	Keep []int
	Drop []int // stated elsewhere: in another line, or in a superseded memory
	Move []int // become semantic memories
}

// Condense shortens a block to 90 % of its limit. The lines are in the order in which they were
// written. It first leaves out lines that repeat another one (the later one stays) or are no longer
// true, then the least useful lines, the oldest first. Nothing is lost: a line that goes is also in
// another line or in a superseded memory, or it is to be moved. A block that fits keeps all its
// lines.
func Condense(lines []CoreLine, limit int) Condensed {
	f := CoreFields{Limit: limit}
	left := make([]bool, len(lines))
	total := 0
	size := func(i int) int { return utf8.RuneCountInString(lines[i].Text) + 1 } // with its newline
	for i := range lines {
		left[i] = true
		total += size(i)
	}
	var c Condensed
	take := func(i int, to *[]int) {
		left[i], total = false, total-size(i)
		*to = append(*to, i)
	}
	if f.Full(max(total-1, 0)) {
		later := map[string]bool{}
		for i := len(lines) - 1; i >= 0; i-- {
			n := Normal(lines[i].Text)
			if !lines[i].Keep && (later[n] || lines[i].Past) {
				take(i, &c.Drop)
				continue
			}
			later[n] = true
		}
	}
	order := make([]int, len(lines))
	for i := range order {
		order[i] = i
	}
	sorting.Stable(order, func(a, b int) int { return lines[a].Uses - lines[b].Uses })
	for _, i := range order {
		if !f.Full(max(total-1, 0)) {
			break
		}
		if left[i] && !lines[i].Keep {
			take(i, &c.Move)
		}
	}
	for i := range lines {
		if left[i] {
			c.Keep = append(c.Keep, i)
		}
	}
	slices.Sort(c.Drop)
	slices.Sort(c.Move)
	return c
}
