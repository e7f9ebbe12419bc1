package policy

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

func (p *parser) rule() (r Rule, err error) {
	r.Line = p.at
	for p.is("@") {
		if err := p.annotation(&r); err != nil {
			return r, err
		}
	}
	switch {
	case p.is("forbid") && r.Asks:
		return r, p.bad("a rule that forbids can't have @ask: remove it")
	case p.is("forbid"):
		r.Forbid = true
	case !p.is("permit"):
		return r, p.bad("want permit or forbid, not %s", p.tokenText())
	}
	if err := p.next(); err != nil {
		return r, err
	}
	if err := p.expect("(", "principal"); err != nil {
		return r, err
	}
	if err := p.principal(&r); err != nil {
		return r, err
	}
	if err := p.expect(",", "action"); err != nil {
		return r, err
	}
	if err := p.actions(&r); err != nil {
		return r, err
	}
	if err := p.expect(",", "resource", ")"); err != nil {
		return r, err
	}
	for p.is("when") || p.is("unless") {
		c := condition{unless: p.is("unless")}
		if err := p.next(); err != nil {
			return r, err
		}
		if err := p.expect("{"); err != nil {
			return r, err
		}
		if c.expr, err = p.or(); err != nil {
			return r, err
		}
		if err := p.expect("}"); err != nil {
			return r, err
		}
		r.conds = append(r.conds, c)
	}
	if r.Asks {
		r.key = r.Words()
	}
	return r, p.expect(";")
}

// annotation reads @id("…") or @ask("…").
func (p *parser) annotation(r *Rule) error {
	if err := p.next(); err != nil {
		return err
	}
	what := p.tokenText()
	if p.text || what != "id" && what != "ask" || what == "id" && r.ID != "" || what == "ask" && r.Asks {
		return p.bad("want @id or @ask, each once, not @%s", what)
	}
	if err := p.next(); err != nil {
		return err
	}
	if err := p.expect("("); err != nil {
		return err
	}
	if what == "ask" {
		if err := p.asking(r); err != nil {
			return err
		}
	}
	text, err := p.takeText()
	if err != nil {
		return err
	}
	if what == "id" {
		r.ID = text
	}
	return p.expect(")")
}

// MaxAsk is how long a consent is valid at most.
const MaxAsk = 365 * 24 * time.Hour

// asking reads "each time", "12 hours" or "30 days", which is the next token.
func (p *parser) asking(r *Rule) error {
	r.Asks = true
	if p.text && p.tok == "each time" {
		return nil
	}
	count, unit, _ := strings.Cut(p.tok, " ")
	each := map[string]time.Duration{"hour": time.Hour, "hours": time.Hour, "day": 24 * time.Hour, "days": 24 * time.Hour}[unit]
	n, err := strconv.ParseUint(count, 10, 16)
	if r.For = time.Duration(n) * each; !p.text || err != nil || r.For <= 0 || r.For > MaxAsk {
		return p.bad(`want @ask("each time"), or how long a yes holds, such as @ask("30 days") or @ask("12 hours"), a year at most, not %s`, p.tokenText())
	}
	return nil
}

func (p *parser) principal(r *Rule) error {
	named := p.is("==")
	if !named && !p.is("is") {
		return nil
	}
	if err := p.next(); err != nil {
		return err
	}
	if p.text || !slices.Contains(Kinds[:], Kind(p.tok)) {
		return p.bad("want Reader, App, Worker, Community or Buyer, not %s", p.tokenText())
	}
	r.Kind = Kind(p.tok)
	if err := p.next(); err != nil || !named {
		return err
	}
	if r.Kind == Buyer {
		return p.bad("a buyer has no name: write principal is Buyer")
	}
	if err := p.expect("::"); err != nil {
		return err
	}
	var err error
	r.Who, err = p.takeText()
	return err
}

func (p *parser) actions(r *Rule) error {
	one := func() error {
		if err := p.expect("Action", "::"); err != nil {
			return err
		}
		if !p.text || !slices.Contains(Actions[:], Action(p.tok)) {
			return p.bad(`want "share", "feed", "read", "sell" or "answer", not %s`, p.tokenText())
		}
		r.Actions = append(r.Actions, Action(p.tok))
		return p.next()
	}
	switch {
	case p.is("=="):
		if err := p.next(); err != nil {
			return err
		}
		return one()
	case p.is("in"):
		if err := p.next(); err != nil {
			return err
		}
		if err := p.expect("["); err != nil {
			return err
		}
		for {
			if err := one(); err != nil {
				return err
			}
			if !p.is(",") {
				return p.expect("]")
			}
			if err := p.next(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *parser) or() (expr, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.bad("more than %d parentheses", maxDepth)
	}
	defer func() { p.depth-- }()
	e, err := p.and()
	for err == nil && p.is("||") {
		if err = p.next(); err != nil {
			break
		}
		var b expr
		b, err = p.and()
		e = either{e, b}
	}
	return e, err
}

func (p *parser) and() (expr, error) {
	e, err := p.unary()
	for err == nil && p.is("&&") {
		if err = p.next(); err != nil {
			break
		}
		var b expr
		b, err = p.unary()
		e = both{e, b}
	}
	return e, err
}

func (p *parser) unary() (expr, error) {
	if p.is("!") {
		if err := p.next(); err != nil {
			return nil, err
		}
		if p.is("!") {
			return nil, p.bad("two ! in a row")
		}
		e, err := p.unary()
		switch e.(type) {
		case compare, not:
			return nil, p.bad("put what follows ! in parentheses")
		case oneOf:
			if !p.listed {
				return nil, p.bad("put what follows ! in parentheses")
			}
		}
		return not{e}, err
	}
	switch {
	case p.is("("):
		if err := p.next(); err != nil {
			return nil, err
		}
		e, err := p.or()
		if err != nil {
			return nil, err
		}
		return group{e}, p.expect(")")
	case p.is("true"), p.is("false"):
		e := always(p.is("true"))
		return e, p.next()
	}
	return p.relation()
}

func (p *parser) relation() (expr, error) {
	p.listed = p.is("[")
	if p.listed {
		list, err := p.texts()
		if err == nil {
			err = p.expect(".", "contains", "(")
		}
		if err != nil {
			return nil, err
		}
		f, err := p.path()
		if err != nil {
			return nil, err
		}
		if f := field(f); f == fieldType || f == fieldPurpose {
			return oneOf{f, list}, p.expect(")")
		}
		return nil, p.bad("want resource.type or context.purpose in a list, not %s", f)
	}
	path, err := p.path()
	if err != nil {
		return nil, err
	}
	switch path {
	case string(fieldType), string(fieldPurpose):
		differs := p.is("!=")
		if !differs && !p.is("==") {
			return nil, p.bad("want == or != after %s, not %s", path, p.tokenText())
		}
		if err := p.next(); err != nil {
			return nil, err
		}
		s, err := p.takeText()
		var e expr = oneOf{field(path), []string{s}}
		if differs {
			e = not{e}
		}
		return e, err
	case "resource.tags", "resource.entities", "resource.places":
		return p.contains(set(strings.TrimPrefix(path, "resource.")))
	case "resource.sensitivity", "resource.learnt", "context.now":
		return p.compare(path[strings.Index(path, ".")+1:])
	}
	return nil, p.bad("%s is not known: there are resource.type, tags, entities, places, sensitivity and learnt, context.purpose and now", path)
}

func (p *parser) path() (string, error) {
	if !p.is("resource") && !p.is("context") {
		return "", p.bad("want a condition on resource or context, not %s", p.tokenText())
	}
	of := p.tok
	if err := p.next(); err != nil {
		return "", err
	}
	if err := p.expect("."); err != nil {
		return "", err
	}
	s := of + "." + p.tokenText()
	return s, p.next()
}

func (p *parser) contains(s set) (e expr, err error) {
	if err := p.expect("."); err != nil {
		return nil, err
	}
	how := p.tok
	if p.text || how != "contains" && how != "containsAny" && how != "containsAll" {
		return nil, p.bad("want contains, containsAny or containsAll, not %s", p.tokenText())
	}
	if err = p.next(); err == nil {
		err = p.expect("(")
	}
	if err != nil {
		return nil, err
	}
	var of []string
	if how == "contains" {
		of = []string{p.tok}
		_, err = p.takeText()
	} else {
		of, err = p.texts()
	}
	if err != nil {
		return nil, err
	}
	return has{s, how == "containsAll", of}, p.expect(")")
}

func (p *parser) compare(what string) (expr, error) {
	e := compare{what: what, op: p.tok}
	if p.text || !slices.Contains([]string{"<", "<=", ">", ">=", "==", "!="}, p.tok) {
		return nil, p.bad("want <, <=, >, >=, == or !=, not %s", p.tokenText())
	}
	if err := p.next(); err != nil {
		return nil, err
	}
	if what == "sensitivity" {
		n, err := strconv.ParseInt(p.tok, 10, 32)
		if p.text || err != nil {
			return nil, p.bad("want 0 (public), 1 (personal), 2 (private) or 3 (secret), not %s", p.tokenText())
		}
		e.n = n
		return e, p.next()
	}
	if err := p.expect("datetime", "("); err != nil {
		return nil, err
	}
	for _, layout := range []string{"2006-01-02", "2006-01-02T15:04:05Z"} {
		if at, err := time.Parse(layout, p.tok); err == nil && p.text {
			e.n = at.UnixMilli()
			if err := p.next(); err != nil {
				return nil, err
			}
			return e, p.expect(")")
		}
	}
	return nil, p.bad(`want a time such as "2026-12-01" or "2026-12-01T08:00:00Z", not %s`, p.tokenText())
}
