package policy_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cedar-policy/cedar-go"
	"pgregory.net/rapid"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/policy"
)

var (
	names  = []string{"Ann", "Ben", "a \"b\" \\", "日记"}
	words  = []string{"garden", "work", "health", "日记"}
	types  = []string{"core", "episodic", "semantic", "procedural", "resource", "utterances"}
	why    = []string{"", "research", "advice"}
	moment = time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)
)

func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

func someOf(t *rapid.T, of []string, label string) string {
	n := rapid.IntRange(1, 2).Draw(t, label)
	var out []string
	for range n {
		out = append(out, quoted(rapid.SampledFrom(of).Draw(t, label)))
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// condition draws a condition in Cedar.
func condition(t *rapid.T, depth int) string {
	op := func() string {
		return rapid.SampledFrom([]string{"<", "<=", ">", ">=", "==", "!="}).Draw(t, "op")
	}
	date := func() string {
		return fmt.Sprintf("datetime(%q)", rapid.SampledFrom([]string{"2026-11-21", "2026-11-22", "2026-11-22T08:00:00Z", "2026-11-22T08:00:01Z"}).Draw(t, "date"))
	}
	set := func() string {
		return "resource." + rapid.SampledFrom([]string{"tags", "entities", "places"}).Draw(t, "set")
	}
	n := 9
	if depth == 0 {
		n = 6
	}
	switch rapid.IntRange(0, n).Draw(t, "form") {
	case 0:
		return "resource.type " + rapid.SampledFrom([]string{"==", "!="}).Draw(t, "eq") + " " + quoted(rapid.SampledFrom(types).Draw(t, "type"))
	case 1:
		return someOf(t, types, "types") + ".contains(resource.type)"
	case 2:
		return "context.purpose == " + quoted(rapid.SampledFrom(why[1:]).Draw(t, "purpose"))
	case 3:
		return set() + ".contains(" + quoted(rapid.SampledFrom(words).Draw(t, "word")) + ")"
	case 4:
		return set() + rapid.SampledFrom([]string{".containsAny(", ".containsAll("}).Draw(t, "how") + someOf(t, words, "words") + ")"
	case 5:
		return "resource.sensitivity " + op() + fmt.Sprint(rapid.IntRange(0, 3).Draw(t, "n"))
	case 6:
		return rapid.SampledFrom([]string{"resource.learnt ", "context.now "}).Draw(t, "time") + op() + date()
	case 7:
		return condition(t, depth-1) + " && " + condition(t, depth-1)
	case 8:
		return "(" + condition(t, depth-1) + " || " + condition(t, depth-1) + ")"
	}
	return "!(" + condition(t, depth-1) + ")"
}

func rule(t *rapid.T) string {
	head := rapid.SampledFrom([]string{"permit", "forbid"}).Draw(t, "effect") + " (principal"
	kind := rapid.SampledFrom(policy.Kinds[:]).Draw(t, "kind")
	switch rapid.IntRange(0, 2).Draw(t, "principal") {
	case 1:
		head += " is " + string(kind)
	case 2:
		if kind != policy.Buyer {
			head += " == " + string(kind) + "::" + quoted(rapid.SampledFrom(names).Draw(t, "name"))
		}
	}
	head += ", action"
	switch rapid.IntRange(0, 2).Draw(t, "action") {
	case 1:
		head += ` == Action::"` + string(rapid.SampledFrom(policy.Actions[:]).Draw(t, "act")) + `"`
	case 2:
		head += ` in [Action::"share", Action::"` + string(rapid.SampledFrom(policy.Actions[:]).Draw(t, "act")) + `"]`
	}
	head += ", resource)"
	for range rapid.IntRange(0, 2).Draw(t, "conditions") {
		head += rapid.SampledFrom([]string{" when { ", " unless { "}).Draw(t, "when") + condition(t, 2) + " }"
	}
	return head + ";\n"
}

func rules(t *rapid.T) string {
	var b strings.Builder
	for range rapid.IntRange(0, 6).Draw(t, "rules") {
		b.WriteString(rule(t))
	}
	return b.String()
}

func request(t *rapid.T) policy.Request {
	r := policy.Request{Action: rapid.SampledFrom(policy.Actions[:]).Draw(t, "action"), Kind: rapid.SampledFrom(policy.Kinds[:]).Draw(t, "kind"),
		Purpose: rapid.SampledFrom(why).Draw(t, "purpose"), Now: moment.Add(time.Duration(rapid.IntRange(-1, 1).Draw(t, "now")) * time.Second)}
	if r.Kind != policy.Buyer {
		r.Name = rapid.SampledFrom(names).Draw(t, "name")
	}
	return r
}

func item(t *rapid.T) policy.Item {
	some := func(label string) []string { return rapid.SliceOfN(rapid.SampledFrom(words), 0, 2).Draw(t, label) }
	return policy.Item{Type: rapid.SampledFrom(types).Draw(t, "type"), Tags: some("tags"), Entities: some("entities"), Places: some("places"),
		Sensitivity: memory.Sensitivity(rapid.IntRange(0, 3).Draw(t, "sensitivity")), Learnt: moment.Add(time.Duration(rapid.IntRange(-1, 1).Draw(t, "learnt")) * time.Second)}
}

func parsed(t interface{ Fatal(...any) }, text string) policy.Policy {
	p, err := policy.Parse(text)
	if err != nil {
		t.Fatal(text, err)
	}
	return p
}

// asCedar asks Cedar's own implementation.
func asCedar(t *rapid.T, text string, r *policy.Request, it *policy.Item) bool {
	ps, err := cedar.NewPolicySetFromBytes("policy", []byte(text))
	if err != nil {
		t.Fatal(text, err)
	}
	set := func(list []string) cedar.Set {
		var vs []cedar.Value
		for _, s := range list {
			vs = append(vs, cedar.String(s))
		}
		return cedar.NewSet(vs...)
	}
	uid := cedar.NewEntityUID("Memory", "m")
	entities := cedar.EntityMap{uid: {UID: uid, Attributes: cedar.NewRecord(cedar.RecordMap{
		"type": cedar.String(it.Type), "tags": set(it.Tags), "entities": set(it.Entities), "places": set(it.Places),
		"sensitivity": cedar.Long(it.Sensitivity), "learnt": cedar.NewDatetime(it.Learnt)})}}
	ok, d := cedar.Authorize(ps, entities, cedar.Request{Principal: cedar.NewEntityUID(cedar.EntityType(r.Kind), cedar.String(r.Name)),
		Action: cedar.NewEntityUID("Action", cedar.String(r.Action)), Resource: uid,
		Context: cedar.NewRecord(cedar.RecordMap{"now": cedar.NewDatetime(r.Now), "purpose": cedar.String(r.Purpose)})})
	if len(d.Errors) > 0 {
		t.Fatal("what is accepted can't fail, and it does in Cedar:", text, d.Errors)
	}
	return ok == cedar.Allow
}

// asCedarSells has Cedar decide about answers as about copies while no rule names answers; rules
// that forbid copies also forbid answers while no rule permits answers.
func asCedarSells(t *rapid.T, text string, r *policy.Request, it *policy.Item) bool {
	if r.Action != policy.SellAnswers {
		return asCedar(t, text, r, it)
	}
	sale := *r
	sale.Action = policy.Sell
	named, forbids := false, "permit (principal, action, resource);\n"
	for line := range strings.Lines(text) {
		names := strings.Contains(line, `Action::"answer"`)
		if named = named || names; strings.HasPrefix(line, "forbid") {
			forbids += line
		} else if names {
			return asCedar(t, text, r, it)
		}
	}
	if !named {
		return asCedar(t, text, &sale, it)
	}
	return asCedar(t, text, r, it) && asCedar(t, forbids, &sale, it)
}

// The part of Cedar that this package reads decides as Cedar's own implementation does.
func TestAgreesWithCedar(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, r, it := rules(t), request(t), item(t)
		p := parsed(t, text)
		d := policy.Decide([]policy.Policy{p}, nil, &r, &it)
		if want := asCedarSells(t, text, &r, &it); d.Allow != want {
			t.Fatalf("%s: %v by %s, Cedar says %v for %+v on %+v", text, d.Allow, d.Why(), want, r, it)
		}
		for i := range p.Rules {
			if w := p.Rules[i].Words(); w == "" || strings.Contains(w, "  ") {
				t.Fatalf("a rule in plain words is %q", w)
			}
		}
	})
}

// No rule grants access to the vault.
func TestNoRuleGrantsTheVault(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, it := request(t), item(t)
		it.Vault = true
		if d := policy.Decide([]policy.Policy{parsed(t, rules(t)+"permit (principal, action, resource);")}, nil, &r, &it); d.Allow || !d.Vault {
			t.Fatal("the vault is given away")
		}
	})
}

// What a rule forbids, no other rule can grant, and a narrower policy never shows more: with a
// condition on a permit, a permit removed, a forbid added, or another device's policy beside it.
func TestNarrowerPolicyShowsNoMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all, narrow []string
		for range rapid.IntRange(1, 5).Draw(t, "rules") {
			one := rule(t)
			all = append(all, one)
			switch permits := strings.HasPrefix(one, "permit"); {
			case permits && rapid.Bool().Draw(t, "gone"):
			case permits && rapid.Bool().Draw(t, "conditioned"):
				narrow = append(narrow, strings.TrimSuffix(one, ";\n")+" when { "+condition(t, 1)+" };\n")
			default:
				narrow = append(narrow, one)
			}
		}
		if rapid.Bool().Draw(t, "forbid") {
			narrow = append(narrow, strings.Replace(rule(t), "permit", "forbid", 1))
		}
		if named := func(rules []string) bool { return strings.Contains(strings.Join(rules, ""), `Action::"answer"`) }; named(all) && !named(narrow) {
			t.Skip("once no rule names answers, they go as copies do")
		}
		wide, less := parsed(t, strings.Join(all, "")), parsed(t, strings.Join(narrow, ""))
		other := parsed(t, rules(t))
		r, it := request(t), item(t)
		before := policy.Decide([]policy.Policy{wide}, nil, &r, &it)
		if after := policy.Decide([]policy.Policy{less}, nil, &r, &it); after.Allow && !before.Allow {
			t.Fatalf("shows more:\n%s\nthan\n%s", less.Text, wide.Text)
		}
		if two := policy.Decide([]policy.Policy{wide, other}, nil, &r, &it); two.Allow && !before.Allow {
			t.Fatalf("two policies show more than one")
		}
		if before.Allow && slices.ContainsFunc(before.Rules, func(r *policy.Rule) bool { return r.Forbid }) {
			t.Fatalf("allowed by what forbids")
		}
		none := parsed(t, wide.Text+"forbid (principal, action, resource);")
		if policy.Decide([]policy.Policy{none}, nil, &r, &it).Allow || policy.Decide(nil, nil, &r, &it).Allow {
			t.Fatal("what is forbidden, or what nothing permits, is allowed")
		}
	})
}

// What can't be restated in plain words, or might fail, is refused, with its line.
func TestInvalidPolicyNamesTheLine(t *testing.T) {
	const head = "permit (principal, action, resource)"
	for text, want := range map[string]string{
		"permit": "line 1: want (", head: "line 1: want ;", "\n\nallow (principal, action, resource);": "line 3: want permit or forbid",
		head + " when { resource.colour == \"red\" };":                         "resource.colour is not known",
		head + "\nwhen { resource.sensitivity < \"2\" };":                      "line 2: want 0 (public)",
		head + " when { resource.learnt < datetime(\"soon\") };":               "want a time",
		head + " when { !resource.type == \"core\" };":                         "in parentheses",
		head + " when { principal.name == \"Ann\" };":                          "want a condition on resource or context",
		head + " when { resource.type == \"core };":                            "a text has no closing quotation mark",
		head + " when { resource.type == \"\" };":                              "an empty text",
		"permit (principal == Buyer::\"x\", action, resource);":                "a buyer has no name",
		"permit (principal == User::\"x\", action, resource);":                 "want Reader, App, Worker, Community or Buyer",
		"permit (principal, action == Action::\"delete\", resource);":          "want \"share\"",
		"permit (principal, action, resource == Memory::\"x\");":               "want )",
		head + " when { " + strings.Repeat("(", 40) + "true":                   "more than 32 parentheses",
		head + " when { true } §;":                                             "is not known here",
		strings.Repeat(head+";\n", 1001):                                       "more than 1000 rules",
		head + " when { resource has type };":                                  "want .",
		head + " when { if true then true else false };":                       "want a condition on resource or context",
		"@doc(\"x\") " + head + ";":                                            "want @id or @ask",
		head + " when { [\"a\"].contains(resource.tags) };":                    "want resource.type or context.purpose",
		"permit (principal in Group::\"friends\", action, resource);":          "want ,",
		head + " when { resource.tags.contains(\"a\\u{202e}\") };":             "no other escape",
		head + " when { context.now < datetime(\"2026-12-01T00:00:00+0100\")}": "want a time",
	} {
		if _, err := policy.Parse(text); !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: %v, want %q", text, err, want)
		}
	}
}

// A rule is restated in plain words.
func TestPolicyInPlainWords(t *testing.T) {
	p := parsed(t, `// the garden
@id("garden for Ann")
permit (principal == Reader::"Ann", action in [Action::"share", Action::"read"], resource)
when { ["semantic", "procedural"].contains(resource.type) && resource.tags.contains("garden") && resource.sensitivity <= 1 }
unless { context.now >= datetime("2026-12-01") };
forbid (principal is App, action, resource) when { !(resource.entities.containsAny(["Zuzana", "Ben"])) || resource.places.containsAll(["Graz"]) };
`)
	want := []string{
		"The reader “Ann” may be given or read a memory if the type is “semantic” or “procedural” and it is tagged “garden” and its sensitivity is at most personal, and unless it is no earlier than 2026-12-01.",
		"Any app may never have a memory if (it is not so that (it names “Zuzana” or “Ben”) or it is about the place “Graz”).",
	}
	for i := range p.Rules {
		if got := p.Rules[i].Words(); got != want[i] {
			t.Errorf("rule %d is said back as\n%s, want\n%s", i, got, want[i])
		}
	}
	if p.Rules[0].Name() != "garden for Ann" || p.Rules[1].Name() != "the rule in line 6" {
		t.Errorf("%q, %q", p.Rules[0].Name(), p.Rules[1].Name())
	}
}

// A rule that asks permits nothing before a yes, whatever is forbidden stays forbidden, and a yes
// permits no more than the same rule would without the question.
func TestAskRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := rules(t)
		text := `@ask("30 days") ` + strings.Replace(rule(t), "forbid", "permit", 1)
		plain := []policy.Policy{parsed(t, base+strings.TrimPrefix(text, `@ask("30 days") `))}
		// The same rule where it applies to nothing: the fact that it names only answers still
		// counts (policy.as).
		never := strings.TrimSuffix(text, ";\n") + " when { resource.sensitivity > 3 };\n"
		with, without := []policy.Policy{parsed(t, base+text)}, []policy.Policy{parsed(t, base+never)}
		r, it := request(t), item(t)
		it.ID = memory.ID{1}
		asks := &with[0].Rules[len(with[0].Rules)-1]
		if !asks.Asks || asks.For != 30*24*time.Hour || !strings.Contains(asks.Words(), "once you say yes, which holds for 30 days at most") {
			t.Fatalf("%+v: %s", asks, asks.Words())
		}
		before := policy.Decide(without, nil, &r, &it)
		unanswered := policy.Decide(with, nil, &r, &it)
		if unanswered.Allow != before.Allow || unanswered.Asks && (unanswered.Allow || !strings.Contains(unanswered.Why(), "waits for your consent")) {
			t.Fatalf("unanswered: %+v", unanswered)
		}
		by := r
		by.Now = time.Time{}
		yes := policy.Answer{Rule: asks.Key(), By: by, Allow: true, Until: r.Now.Add(time.Second)}
		if got, want := policy.Decide(with, []policy.Answer{yes}, &r, &it).Allow, policy.Decide(plain, nil, &r, &it).Allow; got != want {
			t.Fatalf("answered: %v, without the question: %v", got, want)
		}
		no := yes
		no.Allow = false
		for what, list := range map[string][]policy.Answer{
			"refused":          {no},
			"refused and not":  {yes, no},
			"over":             {{Rule: yes.Rule, By: by, Allow: true, Until: r.Now}},
			"another memory":   {{Rule: yes.Rule, By: by, Allow: true, Until: yes.Until, Of: map[memory.ID]string{{2}: ""}}},
			"another rule":     {{Rule: "x", By: by, Allow: true, Until: yes.Until}},
			"less is redacted": {{Rule: yes.Rule, By: policy.Request{Action: by.Action, Kind: by.Kind, Name: by.Name, Purpose: by.Purpose, Form: "names"}, Allow: true, Until: yes.Until}},
			"another name":     {{Rule: yes.Rule, By: policy.Request{Action: by.Action, Kind: by.Kind, Name: "Eve", Purpose: by.Purpose}, Allow: true, Until: yes.Until}},
		} {
			if policy.Decide(with, list, &r, &it).Allow != before.Allow {
				t.Fatalf("%s: it passes", what)
			}
		}
		// Where two devices set policies independently, a yes to one does not answer the other.
		two := append(slices.Clone(with), parsed(t, `@ask("each time") permit (principal, action, resource);`))
		if d := policy.Decide(two, []policy.Answer{yes}, &r, &it); d.Allow || !policy.Decide(plain, nil, &r, &it).Allow && d.Asks && before.Allow {
			t.Fatalf("two: %+v", d)
		}
	})
	for text, want := range map[string]string{
		`@ask("sometimes") permit (principal, action, resource);`:           "line 1: want @ask(\"each time\")",
		"\n@ask(\"0 days\") permit (principal, action, resource);":          "line 2: want @ask",
		`@ask("366 days") permit (principal, action, resource);`:            "a year at most",
		`@ask("-1 days") permit (principal, action, resource);`:             "want @ask",
		`@ask("each time") forbid (principal, action, resource);`:           "can't have @ask",
		`@ask("1 day") @ask("1 day") permit (principal, action, resource);`: "each once",
		`@advice("x") permit (principal, action, resource);`:                "want @id or @ask",
		`@ask(each) permit (principal, action, resource);`:                  "want @ask",
		`@id("a") @id("b") permit (principal, action, resource);`:           "each once",
		`@ask("1 day" permit (principal, action, resource);`:                "want )",
	} {
		if _, err := policy.Parse(text); !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	p := parsed(t, `@ask("12 hours") @id("x") permit (principal is App, action, resource);`)
	if r := p.Rules[0]; r.ID != "x" || r.For != 12*time.Hour || r.Words() != "Any app may have a memory, once you say yes, which holds for 12 hours at most." {
		t.Errorf("%+v %s", r, r.Words())
	}
}
