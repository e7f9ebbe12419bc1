package policy

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/locket-dev/locket/memory"
)

// Limits of a policy.
const (
	MaxText  = 64 << 10 // bytes
	MaxRules = 1000
	maxDepth = 32 // of parentheses
)

// Parse reads a policy. The error names the line.
//
//	policy    = { rule }
//	rule      = [ "@id" "(" TEXT ")" ] [ "@ask" "(" TEXT ")" ] ( "permit" | "forbid" )
//	            "(" "principal" [ "is" KIND | "==" KIND "::" TEXT ] ","
//	            "action" [ "==" ACTION | "in" "[" ACTION { "," ACTION } "]" ] ","
//	            "resource" ")" { ( "when" | "unless" ) "{" expr "}" } ";"
//	ACTION    = "Action" "::" TEXT
//	expr      = and { "||" and }
//	and       = unary { "&&" unary }
//	unary     = [ "!" ] ( "(" expr ")" | "true" | "false" | relation )
//	relation  = ( "resource.type" | "context.purpose" ) ( "==" | "!=" ) TEXT
//	          | "[" TEXT { "," TEXT } "]" "." "contains" "(" ( "resource.type" | "context.purpose" ) ")"
//	          | "resource." ( "tags" | "entities" | "places" ) "."
//	            ( "contains" "(" TEXT ")" | ( "containsAny" | "containsAll" ) "(" "[" TEXT { "," TEXT } "]" ")" )
//	          | "resource.sensitivity" ORDER NUMBER
//	          | ( "resource.learnt" | "context.now" ) ORDER "datetime" "(" TEXT ")"
//	ORDER     = "<" | "<=" | ">" | ">=" | "==" | "!="
func Parse(text string) (Policy, error) {
	p := &parser{rest: text, line: 1}
	out := Policy{Text: text}
	err := func() error {
		if len(text) > MaxText {
			return p.bad("%d bytes, at most %d", len(text), MaxText)
		}
		if !utf8.ValidString(text) {
			return p.bad("it is not UTF-8")
		}
		if err := p.next(); err != nil {
			return err
		}
		for p.tok != "" {
			r, err := p.rule()
			if err != nil {
				return err
			}
			if out.Rules = append(out.Rules, r); len(out.Rules) > MaxRules {
				return p.bad("more than %d rules", MaxRules)
			}
		}
		return nil
	}()
	return out, err
}

type parser struct {
	rest  string
	line  int
	tok   string // the next token; empty: the end
	text  bool   // tok is the value of a quoted text
	at    int    // its line
	depth int

	listed bool // the last relation was ["a"].contains(…)
}

func (p *parser) bad(format string, a ...any) error {
	return fmt.Errorf("%w: policy: line %d: %s", memory.ErrInvalid, max(p.at, 1), fmt.Sprintf(format, a...))
}

var symbols = []string{"::", "==", "!=", "<=", ">=", "&&", "||", "<", ">", "!", "(", ")", "[", "]", "{", "}", ",", ".", ";", "@"}

// next reads a token. A quoted text sets text, which distinguishes an empty
// text from the end.
func (p *parser) next() error {
	for {
		trimmed := strings.TrimLeftFunc(p.rest, unicode.IsSpace)
		p.line += strings.Count(p.rest[:len(p.rest)-len(trimmed)], "\n")
		if p.rest = trimmed; !strings.HasPrefix(p.rest, "//") {
			break
		}
		_, after, found := strings.Cut(p.rest, "\n")
		if p.rest = after; found {
			p.line++
		}
	}
	p.tok, p.text, p.at = "", false, p.line
	if p.rest == "" {
		return nil
	}
	if p.rest[0] == '"' {
		return p.quoted()
	}
	for _, s := range symbols {
		if strings.HasPrefix(p.rest, s) {
			p.tok, p.rest = s, p.rest[len(s):]
			return nil
		}
	}
	n := strings.IndexFunc(p.rest, func(r rune) bool {
		return !(r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	})
	if n < 0 {
		n = len(p.rest)
	}
	if n == 0 {
		r, _ := utf8.DecodeRuneInString(p.rest)
		return p.bad("%q is not known here", r)
	}
	p.tok, p.rest = p.rest[:n], p.rest[n:]
	return nil
}

func (p *parser) quoted() error {
	var b strings.Builder
	for i := 1; i < len(p.rest); i++ {
		switch c := p.rest[i]; c {
		case '"':
			p.tok, p.text, p.rest = b.String(), true, p.rest[i+1:]
			if p.tok == "" {
				return p.bad("an empty text")
			}
			return nil
		case '\\':
			if i++; i == len(p.rest) || p.rest[i] != '"' && p.rest[i] != '\\' {
				return p.bad(`a text has \" and \\, and no other escape`)
			}
			b.WriteByte(p.rest[i])
		case '\n':
			return p.bad("a text has to end on the line on which it begins")
		default:
			b.WriteByte(c)
		}
	}
	return p.bad("a text has no closing quotation mark")
}

// is reports whether a word or symbol is the next token.
func (p *parser) is(s string) bool { return !p.text && p.tok == s }

func (p *parser) expect(words ...string) error {
	for _, s := range words {
		if !p.is(s) {
			return p.bad("want %s, not %s", s, p.tokenText())
		}
		if err := p.next(); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) tokenText() string {
	switch {
	case p.text:
		return strconv.Quote(p.tok)
	case p.tok == "":
		return "the end"
	}
	return p.tok
}

func (p *parser) takeText() (string, error) {
	if !p.text {
		return "", p.bad("want a text in quotation marks, not %s", p.tokenText())
	}
	s := p.tok
	return s, p.next()
}

func (p *parser) texts() (out []string, err error) {
	if err := p.expect("["); err != nil {
		return nil, err
	}
	for {
		s, err := p.takeText()
		if err != nil {
			return nil, err
		}
		if out = append(out, s); !p.is(",") {
			return out, p.expect("]")
		}
		if err := p.next(); err != nil {
			return nil, err
		}
	}
}
