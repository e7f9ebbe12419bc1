package judge

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/memory"
)

// single are predicates that are true of one object at a time, as models write them, with the
// extractors' word for each: a new employer ends the old one, whichever of them found it.
var single = map[string]string{
	"home": "home", "lives in": "home", "lives at": "home", "resides in": "home", "lives": "home", "moved to": "home",
	"employer": "employer", "works at": "employer", "works for": "employer", "employed by": "employer", "employed at": "employer",
	"job": "job", "works as": "job", "occupation": "job", "profession": "job",
	"spouse": "spouse", "married to": "spouse", "wife of": "spouse", "husband of": "spouse",
	"birthplace": "birthplace", "born in": "birthplace",
	"birthday": "birthday", "born on": "birthday",
}

// predicate returns a predicate in the form in which it is stored, and whether it is true of one
// object at a time. It is empty if s is not a predicate.
func predicate(s string) (stored string, one bool) {
	s = memory.Normal(strings.ReplaceAll(s, "_", " "))
	if len(s) > memory.MaxName {
		return "", false
	}
	if p, ok := single[s]; ok {
		return p, true
	}
	return s, false
}

// relate connects the two entities that a fact names, if the words support it: one is in the quote
// or is the speaker, the other is in the quote or in earlier messages. A relation that is not
// supported is left out, and the fact stays.
func (j *judge) relate(o *Operation, m *Message, c *memory.Candidate) {
	if o.Relation == nil {
		return
	}
	subject, object := strings.Join(strings.Fields(o.Relation.Subject), " "), strings.Join(strings.Fields(o.Relation.Object), " ")
	stored, one := predicate(o.Relation.Predicate)
	if stored == "" || memory.Normal(subject) == "" || memory.Normal(object) == "" || memory.Normal(subject) == memory.Normal(object) ||
		len(subject) > memory.MaxName || len(object) > memory.MaxName {
		return
	}
	quoted := []string{o.Quote, m.Speaker}
	before := append(quoted, m.Text)
	for _, e := range j.b.Earlier {
		before = append(before, e.Text, e.Speaker)
	}
	for i := range j.b.Messages {
		if e := &j.b.Messages[i]; !e.At.After(m.At) {
			before = append(before, e.Text, e.Speaker)
		}
	}
	a, b := namedIn(subject, quoted), namedIn(object, quoted)
	if !a && !b || !(a || namedIn(subject, before)) || !(b || namedIn(object, before)) {
		return
	}
	c.Fields.Semantic.Subject, c.Fields.Semantic.Predicate, c.Fields.Semantic.Object = subject, stored, object
	c.Entities = []memory.Entity{{Name: subject}, {Name: object}}
	key := memory.Normal(subject)
	if key == memory.Normal(j.b.Wearer) {
		key = "user"
	}
	// A speaker who may not speak for somebody can't end anything of theirs.
	if one && !speaksOf(key, m, o.Quote, j.b.Wearer) {
		return
	}
	c.Slot = &memory.Slot{Subject: key, Attribute: stored, Value: object, Many: !one}
}

// possessives are removed from a name: "Bo's sister" names Bo.
var possessives = strings.NewReplacer("'s ", " ", "’s ", " ")

// namedIn reports whether one of several texts has a name, as whole words.
func namedIn(name string, texts []string) bool {
	n := memory.Normal(name)
	return slices.ContainsFunc(texts, func(t string) bool {
		t = memory.Normal(possessives.Replace(t + " "))
		return strings.Contains(" "+t+" ", " "+n+" ") || han(n) && strings.Contains(t, n)
	})
}
