// Package policy decides which of the wearer's memories may be given to whom: one function for
// shares, feeds, apps and sales.
//
// A policy is written in a subset of Cedar (https://docs.cedarpolicy.com) that can be described
// in plain words and whose evaluation can't fail: the documentation of Parse has its grammar.
// Anything outside this subset is refused with its line.
//
//   - A principal is Reader::"NAME", App::"NAME", Worker::"NAME",
//     Community::"NAME" or Buyer, which is anybody who pays.
//   - An action is share (with a reader or community), feed (to a worker), read
//     (by an app), sell (a copy) or answer (a question for money, from a memory
//     that stays).
//   - A resource is one memory, with type, tags, entities, places, sensitivity
//     (0 public to 3 secret) and learnt.
//   - The context has now and, if it was given, purpose.
//
// What no rule permits is denied; what a rule forbids is denied even if another rule permits it;
// and the vault is denied before any rule is evaluated. A rule with @ask permits what the wearer
// has agreed to. Everything here is a pure function of its arguments.
package policy

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Kind of a principal.
type Kind string

// The kinds.
const (
	Reader    Kind = "Reader"
	App       Kind = "App"
	Worker    Kind = "Worker"
	Community Kind = "Community" // the members of a community, whoever they are
	Buyer     Kind = "Buyer"
)

// Kinds are all kinds.
var Kinds = [...]Kind{Reader, App, Worker, Community, Buyer}

// Action is what a principal wants to do.
type Action string

// The actions.
const (
	Share Action = "share"
	Feed  Action = "feed"
	Read  Action = "read"
	Sell  Action = "sell" // sell a copy
	// SellAnswers is to show a memory to somebody who pays for an answer. Only the rules that
	// name it apply to it; as long as no rule names it, the rules for [Sell] apply.
	SellAnswers Action = "answer"
)

// Actions are all actions.
var Actions = [...]Action{Share, Feed, Read, Sell, SellAnswers}

// ActionOf returns the action of a kind of principal; a buyer may also have [SellAnswers].
func ActionOf(k Kind) Action {
	return map[Kind]Action{Reader: Share, App: Read, Worker: Feed, Community: Share, Buyer: Sell}[k]
}

// ActionBy is ActionOf, or the action that a person named, if that kind of principal can have
// it.
func ActionBy(k Kind, named string) (Action, error) {
	a := Action(named)
	if named == "" || a == ActionOf(k) || a == SellAnswers && k == Buyer {
		return Action(cmp.Or(named, string(ActionOf(k)))), nil
	}
	return "", fmt.Errorf("%w: %.20q: want %s, or answer of a buyer", memory.ErrInvalid, named, ActionOf(k))
}

// Request says who wants to do what.
type Request struct {
	Action  Action
	Kind    Kind
	Name    string // the wearer's name for a reader, app, worker or community
	Key     string // identifies the key of the principal of that name; empty for a buyer, who has no name
	Purpose string // empty: none was given
	Form    string // a digest of how memories are redacted for the principal; empty: not at all
	Now     time.Time
}

// KeyOf returns the Key for a public key, or for the digest of a key.
func KeyOf(key []byte) string { return hex.EncodeToString(key[:min(len(key), 16)]) }

// Who returns the principal in the form in which a person writes it: reader:Ann.
func (r *Request) Who() string {
	if r.Name == "" {
		return strings.ToLower(string(r.Kind))
	}
	return strings.ToLower(string(r.Kind)) + ":" + r.Name
}

// ParseWho parses reader:NAME, app:NAME, worker:NAME, community:NAME or buyer.
func ParseWho(s string) (k Kind, name string, err error) {
	kind, name, _ := strings.Cut(s, ":")
	for _, k := range Kinds {
		if strings.EqualFold(kind, string(k)) && (k == Buyer) == (name == "") {
			return k, name, nil
		}
	}
	return "", "", fmt.Errorf("%w: %.40q: want reader:NAME, app:NAME, worker:NAME, community:NAME or buyer", memory.ErrInvalid, s)
}

// Utterances is the type of lines that were said, as apps may see them.
const Utterances = "utterances"

// Item is the part of a memory that rules look at.
type Item struct {
	ID          memory.ID
	Type        string
	Tags        []string
	Entities    []string // names of people and things
	Places      []string
	Sensitivity memory.Sensitivity
	Learnt      time.Time
	Vault       bool
	Rules       bool // the wearer's statements about memories themselves: a policy, or words that are never shared

	memory *memory.Memory // the memory that Mark is computed from; only one of the two is set
	line   *memory.Utterance
}

// Mark returns a digest of what a memory or line says: it changes with the text, value, tags or
// sensitivity. An answer applies to a memory with the mark that was shown.
func (it *Item) Mark() string {
	var of []any
	switch m, u := it.memory, it.line; {
	case m != nil:
		of = []any{m.Type, m.Text, m.Negates, m.Slot, m.Fields, m.Tags, m.Metadata, m.Sensitivity}
	case u != nil:
		of = []any{u.Speaker, u.Text}
	default:
		return ""
	}
	sum := sha256.New()
	_ = json.NewEncoder(sum).Encode(of) // it was decoded from JSON, so it can be encoded
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// ItemOf returns the item of a memory. The wearer's policy itself is never given away, like the
// vault.
func ItemOf(m *memory.Memory) Item {
	it := Item{
		ID: m.ID, Type: string(m.Type), Tags: m.Tags, Sensitivity: m.Sensitivity, Learnt: m.Learnt,
		Vault: m.Type == memory.Vault || m.Fields.Vault != nil,
		Rules: slices.Contains(m.Tags, memory.RulesTag), memory: m,
	}
	for _, e := range m.Entities {
		if e.Kind == "place" {
			it.Places = append(it.Places, e.Name)
		} else {
			it.Entities = append(it.Entities, e.Name)
		}
	}
	if f := m.Fields.Episodic; f != nil && f.Place != "" {
		it.Places = append(it.Places, f.Place)
	}
	return it
}

// ItemOfLine returns the item of a line that was said.
func ItemOfLine(u *memory.Utterance) Item {
	it := Item{ID: u.ID, Type: Utterances, Sensitivity: memory.Private, Learnt: u.At, line: u}
	if u.Place != "" {
		it.Places = []string{u.Place}
	}
	return it
}

// Policy is a set of rules.
type Policy struct {
	Text  string
	Rules []Rule
}

// ByHand is the policy of a wearer who has set none: what the wearer gives by hand, and lets an
// app or worker see, is permitted. It is not a rule that anybody wrote.
const ByHand = `@id("what you give by hand")
permit (principal, action, resource);
`

// Decision says whether something is permitted, and what decided it.
type Decision struct {
	Allow   bool
	Rules   []*Rule // the deciding rules: those that forbid, or else those that permit; none: nothing permits it
	Vault   bool    // the vault is never given away
	Own     bool    // what the wearer said about the memory itself is never given away
	Asks    bool    // it is permitted once the wearer agrees: Rules are those that ask
	Refused bool    // the wearer refused what Rules ask
}

// Why returns the reason for the decision, in words.
func (d *Decision) Why() string {
	switch {
	case d.Vault:
		return "the vault is never given away"
	case d.Own:
		return "what you said about your memory itself is never given away"
	case len(d.Rules) == 0:
		return "no rule permits it"
	}
	var names []string
	for _, r := range d.Rules {
		names = append(names, r.Name())
	}
	if d.Refused {
		return "you refused: " + strings.Join(names, ", ")
	}
	if d.Asks {
		return "it waits for your consent: " + strings.Join(names, ", ")
	}
	return strings.Join(names, ", ")
}

// Answer is the wearer's answer to a rule that asks.
type Answer struct {
	Rule  string  // the rule's Rule.Key
	By    Request // without Now
	Allow bool
	Of    map[memory.ID]string // the memories that the wearer saw, with their marks; nil: everything that the rule applies to
	Until time.Time
}

// to reports whether the answer applies to a rule about a memory.
func (a *Answer) to(rule *Rule, r *Request, it *Item) bool {
	by := *r
	by.Now = a.By.Now
	if a.Rule != rule.Key() || a.By != by || !r.Now.Before(a.Until) {
		return false
	}
	mark, shown := a.Of[it.ID]
	return a.Of == nil || shown && mark == it.Mark()
}

// Decide decides whether a memory may be given away, using the wearer's answers to rules that
// ask. There are several policies if two devices of the wearer set them without knowing of each
// other; then each has to allow it. Without a policy nothing is allowed.
func Decide(policies []Policy, answers []Answer, r *Request, it *Item) (d Decision) {
	if it.Vault || it.Rules {
		return Decision{Vault: it.Vault, Own: it.Rules && !it.Vault}
	}
	var asks []*Rule
	for i := range policies {
		one := policies[i].decide(answers, r, it)
		switch {
		case one.Asks:
			asks = append(asks, one.Rules...)
		case !one.Allow:
			return one
		}
		d.Rules = append(d.Rules, one.Rules...)
	}
	if len(asks) > 0 {
		return Decision{Asks: true, Rules: asks}
	}
	d.Allow = len(policies) > 0
	return d
}

func (p *Policy) decide(answers []Answer, r *Request, it *Item) (d Decision) {
	var permit, asks, refused []*Rule
	permits, forbids := p.as(r)
	for i := range p.Rules {
		rule := &p.Rules[i]
		q := permits
		if rule.Forbid {
			q = forbids
		}
		if !rule.applies(r, it) && !rule.applies(q, it) {
			continue
		}
		yes, no := true, false
		if rule.Asks {
			yes, no = rule.answered(answers, r, it)
			if q != r {
				y, n := rule.answered(answers, q, it) // to the same request, from before answers were an action
				yes, no = yes || y, no || n
			}
		}
		switch {
		case rule.Forbid:
			d.Rules = append(d.Rules, rule)
		case no:
			refused = append(refused, rule)
		case !yes:
			asks = append(asks, rule)
		default:
			permit = append(permit, rule)
		}
	}
	if len(d.Rules) > 0 {
		return d
	}
	switch {
	case len(permit) > 0:
	case len(asks) > 0:
		return Decision{Asks: true, Rules: asks}
	case len(refused) > 0:
		return Decision{Refused: true, Rules: refused}
	}
	return Decision{Allow: len(permit) > 0, Rules: permit}
}

// as returns the requests against which the rules are evaluated; both may be the request itself.
// Some policies were written before answers became an action of their own. Until a rule names
// that action, whoever may buy a copy may have answers; and what is withheld from buyers is
// withheld from answers until a rule permits these.
func (p *Policy) as(r *Request) (permits, forbids *Request) {
	permits, forbids = r, r
	if r.Action != SellAnswers {
		return permits, forbids
	}
	copies := *r
	copies.Action = Sell
	permits, forbids = &copies, &copies
	for i := range p.Rules {
		if slices.Contains(p.Rules[i].Actions, SellAnswers) {
			permits = r
			if !p.Rules[i].Forbid {
				forbids = r
			}
		}
	}
	return permits, forbids
}

// Rule is a rule of a policy.
type Rule struct {
	ID      string // its @id; empty: none
	Line    int    // the line where it begins, from 1
	Forbid  bool
	Kind    Kind          // of principals; empty: all
	Who     string        // the name of a principal of that kind; empty: all
	Actions []Action      // empty: all
	Asks    bool          // it only permits what the wearer has agreed to
	For     time.Duration // how long a consent is valid at most; 0: the wearer is asked each time
	key     string        // for a rule that asks: its text
	conds   []condition
}

// Name returns its id, or its line.
func (r *Rule) Name() string {
	if r.ID != "" {
		return r.ID
	}
	return fmt.Sprintf("the rule in line %d", r.Line)
}

// Asking makes a rule that belongs to no policy and asks each time. words describe it.
func Asking(id, words string) *Rule { return &Rule{ID: id, Asks: true, key: words} }

// Key is the same for all rules that ask and say the same. An answer to one of them applies to
// the others.
func (r *Rule) Key() string { return r.key }

// answered reports whether the wearer agreed or refused. A refusal wins.
func (r *Rule) answered(answers []Answer, q *Request, it *Item) (yes, no bool) {
	for i := range answers {
		if answers[i].to(r, q, it) {
			yes, no = yes || answers[i].Allow, no || !answers[i].Allow
		}
	}
	return yes, no
}

type condition struct {
	unless bool
	expr   expr
}

func (r *Rule) applies(q *Request, it *Item) bool {
	if r.Kind != "" && r.Kind != q.Kind || r.Who != "" && r.Who != q.Name || len(r.Actions) > 0 && !slices.Contains(r.Actions, q.Action) {
		return false
	}
	return !slices.ContainsFunc(r.conds, func(c condition) bool { return c.expr.holds(q, it) == c.unless })
}
