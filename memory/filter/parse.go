package filter

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/locket-dev/locket/memory"
)

// Parse reads the line spelling:
//
//	or    = and { "or" and }
//	and   = not { "and" not }
//	not   = "not" not | "(" or ")" | field op value | field ["not"] "in" "(" value { "," value } ")" | field "exists"
//	op    = "=" | "!=" | "<" | "<=" | ">" | ">=" | "contains" | "icontains"
//	field, value = a word, or Go's spelling of a string in quotation marks
//
// zone is for times without one; nil: UTC. The empty line is the zero filter. Errors wrap
// [memory.ErrInvalid] and name the character.
func Parse(line string, zone *time.Location) (Filter, error) {
	p := parser{line: line, zone: zone}
	if err := p.next(); err != nil {
		return Filter{}, err
	}
	if p.kind == end {
		return Filter{}, nil
	}
	n, err := p.or(0)
	if err != nil {
		return Filter{}, err
	}
	if p.kind != end {
		return Filter{}, p.fail("%q is one too many; join conditions by and, or", p.text)
	}
	return Filter{n}, nil
}

type token uint8

const (
	end    token = iota
	word         // a bare word
	quoted       // a string in quotation marks
	mark         // ( ) , or a comparison
)

// parser holds one token, and where it began.
type parser struct {
	line       string
	zone       *time.Location
	at, start  int // bytes
	kind       token
	text       string
	conditions int
}

func (p *parser) fail(format string, args ...any) error {
	return fmt.Errorf("%w: filter, character %d: %s", memory.ErrInvalid, utf8.RuneCountInString(p.line[:p.start])+1, fmt.Sprintf(format, args...))
}

const marks = "(),=!<>"

// next reads a token.
func (p *parser) next() error {
	for p.at < len(p.line) {
		r, n := utf8.DecodeRuneInString(p.line[p.at:])
		if !unicode.IsSpace(r) {
			break
		}
		p.at += n
	}
	p.start = p.at
	rest := p.line[p.at:]
	switch {
	case rest == "":
		p.kind, p.text = end, ""
		return nil
	case !utf8.ValidString(rest):
		return p.fail("not UTF-8")
	case rest[0] == '"':
		q, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return p.fail("the quotation mark has no other")
		}
		p.at += len(q)
		p.kind = quoted
		if p.text, err = strconv.Unquote(q); err == nil && !utf8.ValidString(p.text) {
			return p.fail("not UTF-8")
		}
		return err
	case strings.IndexByte(marks, rest[0]) >= 0:
		n := 1
		if len(rest) > 1 && rest[1] == '=' && strings.IndexByte("!<>", rest[0]) >= 0 {
			n = 2
		}
		p.at += n
		p.kind, p.text = mark, rest[:n]
		return nil
	}
	n := strings.IndexFunc(rest, func(r rune) bool { return unicode.IsSpace(r) || r == '"' || strings.ContainsRune(marks, r) })
	if n < 0 {
		n = len(rest)
	}
	p.at += n
	p.kind, p.text = word, rest[:n]
	return nil
}

// is reports whether the token is a word of the grammar, in any case.
func (p *parser) is(w string) bool { return p.kind == word && strings.EqualFold(p.text, w) }

func (p *parser) expect(s string) error {
	if p.kind != mark || p.text != s {
		return p.fail("want %q", s)
	}
	return p.next()
}

func (p *parser) or(depth int) (node, error) { return p.list("or", p.and, joinAny, depth) }

func (p *parser) and(depth int) (node, error) { return p.list("and", p.not, joinAll, depth) }

func (p *parser) list(between string, part func(int) (node, error), join func([]node) node, depth int) (node, error) {
	var parts []node
	for {
		n, err := part(depth)
		if err != nil {
			return nil, err
		}
		parts = append(parts, n)
		if !p.is(between) {
			return joined(parts, join), nil
		}
		if err := p.next(); err != nil {
			return nil, err
		}
	}
}

func (p *parser) not(depth int) (node, error) {
	if depth > MaxDepth {
		return nil, p.fail("nested deeper than %d", MaxDepth)
	}
	switch {
	case p.is("not"):
		if err := p.next(); err != nil {
			return nil, err
		}
		n, err := p.not(depth + 1)
		if err != nil {
			return nil, err
		}
		return negate{n}, nil
	case p.kind == mark && p.text == "(":
		if err := p.next(); err != nil {
			return nil, err
		}
		n, err := p.or(depth + 1)
		if err != nil {
			return nil, err
		}
		return n, p.expect(")")
	}
	return p.condition()
}

func (p *parser) condition() (node, error) {
	if p.kind != word && p.kind != quoted {
		return nil, p.fail("want a field, such as type, tags or speaker")
	}
	if p.conditions++; p.conditions > MaxConditions {
		return nil, p.fail("more than %d conditions", MaxConditions)
	}
	place, name := p.start, p.text
	if err := p.next(); err != nil {
		return nil, err
	}
	op, err := p.op(name)
	if err != nil {
		return nil, err
	}
	var words []string
	switch op {
	case OpExists:
		words = []string{"true"}
	case OpIn, OpNotIn:
		words, err = p.values()
	default:
		words, err = p.value()
	}
	if err != nil {
		return nil, err
	}
	c, err := newCondition(name, name, op, words, p.zone)
	if err != nil {
		return nil, fmt.Errorf("filter, character %d: %w", utf8.RuneCountInString(p.line[:place])+1, err)
	}
	return c, nil
}

func (p *parser) op(name string) (Op, error) {
	text := strings.ToLower(p.text)
	if p.is("not") {
		if err := p.next(); err != nil {
			return "", err
		}
		if !p.is("in") {
			return "", p.fail("want in after not")
		}
		return OpNotIn, p.next()
	}
	if p.kind == word || p.kind == mark {
		for op, w := range opWords {
			if w == text || p.kind == word && string(op) == text {
				return op, p.next()
			}
		}
	}
	return "", p.fail("want a comparison after %s: = != < <= > >= in, not in, contains, icontains, exists", name)
}

func (p *parser) value() ([]string, error) {
	if p.kind != word && p.kind != quoted {
		return nil, p.fail("want a value")
	}
	v := p.text
	return []string{v}, p.next()
}

func (p *parser) values() ([]string, error) {
	if err := p.expect("("); err != nil {
		return nil, err
	}
	var out []string
	for {
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		out = append(out, v...)
		if p.kind != mark || p.text != "," {
			return out, p.expect(")")
		}
		if err := p.next(); err != nil {
			return nil, err
		}
	}
}

// write returns the condition as Parse reads it.
func (c *condition) write(b *strings.Builder, _ int) {
	if c.op == OpExists {
		if c.want[0].number == 0 {
			b.WriteString("not ")
		}
		b.WriteString(spell(c.name) + " exists")
		return
	}
	b.WriteString(spell(c.name) + " " + opWords[c.op] + " ")
	if c.op != OpIn && c.op != OpNotIn {
		b.WriteString(spell(c.words[0]))
		return
	}
	for i, w := range c.words {
		b.WriteString([]string{"(", ", "}[min(i, 1)] + spell(w))
	}
	b.WriteByte(')')
}

// spell puts a value in quotation marks if it would not be one word.
func spell(w string) string {
	plain := w != "" && strings.IndexFunc(w, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-.:+/@", r)
	}) < 0
	if plain {
		return w
	}
	return strconv.Quote(w)
}
