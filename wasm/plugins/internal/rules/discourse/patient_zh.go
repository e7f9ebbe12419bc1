package discourse

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// What a doctor tells somebody to do is about the patient, and not about the doctor: 医生让他戒烟,
// 医生让下周三复查.

// tellsZh are the words with which a doctor gives orders.
var tellsZh = [...]string{"不让", "建议", "要求", "让", "叫", "说", "给"}

// OrderedZh returns the doctor's order from a clause that says what a doctor told somebody: 让他戒烟.
// It returns "" if the clause says nothing of the kind.
func OrderedZh(x string) string {
	rest, ok := syntax.CutHead(x, "医生", "大夫")
	if !ok || !syntax.StartsWithAny(rest, tellsZh[:]) {
		return ""
	}
	return rest
}

// attendPatient keeps in mind for whom a doctor's order is: 他 is somebody who was asked about; if
// nobody is named, it is the person whom the talk is about.
func (t *Talk) attendPatient(order string) {
	switch {
	case strings.Contains(order, "我"):
		t.About(t.Self)
	case strings.ContainsAny(order, "他她") && (!t.Topic.Known || t.Topic.Person.Key == t.Self.Key):
		p, ok := t.AbsentZh()
		t.Topic = Topic{Person: p, Known: ok, Unclear: !ok}
	case strings.ContainsAny(order, "你您"):
		p, ok := t.Addressee()
		t.Topic = Topic{Person: p, Known: ok, Unclear: !ok}
	}
}

// PatientNamed inserts the patient's name into a doctor's order: 医生让他戒烟 becomes 医生让Mei的爸戒烟.
func PatientNamed(text, name string) (string, bool) {
	order := OrderedZh(text)
	if order == "" {
		return "", false
	}
	doctor := text[:len(text)-len(order)]
	tells := syntax.LongestZh(order, tellsZh[:])
	what := order[len(tells):]
	for _, he := range [...]string{"他", "她"} {
		if i := strings.Index(what, he); i >= 0 && !strings.HasPrefix(what[i+len(he):], "们") {
			return doctor + tells + what[:i] + name + what[i+len(he):], true
		}
	}
	return doctor + tells + name + what, true
}
