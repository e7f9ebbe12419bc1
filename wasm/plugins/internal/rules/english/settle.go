package english

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/noted"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// organisations are things at which or for which people work.
var organisations = syntax.Set("company firm startup start-up library museum hospital school university college bank bakery restaurant cafe café bar pub hotel shop store supermarket factory lab " +
	"laboratory clinic council government ministry agency studio office zoo aquarium airport station church charity ngo newspaper magazine publisher theatre theater gym salon " +
	"garage farm winery brewery practice nursery kindergarten court embassy police department plant mill institute academy centre center foundation authority railway airline " +
	"pharmacy bookshop gallery warehouse consultancy cooperative co-op bbc nhs un eu army navy parliament harbour port refinery dealership chain bureau organisation organization " +
	"corporation group union practice surgery orchestra opera cinema florist butcher tailor hairdresser builder contractor family city state county")

// workTimes are words after "at" or "for" and a verb of working that are not an employer.
var workTimes = syntax.Set("night nights home weekend weekends noon midnight present first last once dawn dusk free fun hours hour years year months month weeks week days day money peanuts moment " +
	"ease times lunchtime christmas easter length will least most best all desk computer living change example myself yourself himself herself themselves ourselves me you us them him her it that this")

// dwells takes where somebody lives or lived, stays, has moved to, and comes from.
func dwells(t *discourse.Talk, c *discourse.Clause, i int) bool {
	switch c.Verb {
	case "live", "reside":
		lives(t, c, i)
	case "stay":
		if o, _ := c.After(i, 2, "in", "at"); c.Ing && !c.Past && o != "bed" && o != "here" {
			t.Fact(c, "place", "staying_at", o, false, 0.7)
		}
	case "move", "relocate":
		moves(t, c, i)
	case "come":
		if o, _ := c.After(i, 1, "from"); !c.Past {
			t.Fact(c, "biography", "origin", o, false, 0.85)
		}
	case "be":
		return beenIn(t, c, i)
	case "grow":
		if o, _ := c.After(i, 3, "in", "on"); c.W(i) == "up" {
			t.Fact(c, "biography", "grew_up_in", o, false, 0.9)
		}
	default:
		return false
	}
	return true
}

// lives takes "I live in Graz", "I used to live near the sea", "she lives with Tom".
func lives(t *discourse.Talk, c *discourse.Clause, i int) {
	o, ok := c.After(i, 2, "in", "at", "on", "near", "above")
	switch {
	case !ok:
		with, _ := c.After(i, 2, "with")
		t.Fact(c, "relation", "lives_with", with, true, 0.8)
		return
	case c.UsedTo:
		t.Once(c, "lived_in", o)
		if discourse.AbodeOf(o, t.Plain) != discourse.Dwelling {
			return
		}
	}
	if k := c.Find(i, 2, "on"); k >= 0 && !c.Capital(k+1) && discourse.AbodeOf(o, false) != discourse.Dwelling {
		return // on coffee
	}
	if c.Past && !c.UsedTo {
		if discourse.AbodeOf(o, t.Plain) != discourse.NoAbode {
			t.Fact(c, "biography", "lived_in", o, true, 0.75)
		}
		return
	}
	settles(t, c, o, 0.92)
}

// stayed is the number of days after which somebody who has been somewhere lives there.
const stayed = 300

// beenIn takes "I've been in Cardiff for six years".
func beenIn(t *discourse.Talk, c *discourse.Clause, i int) bool {
	in, ok := c.After(i, 0, "in")
	if !ok || !c.Perfect || c.Neg || !c.Capital(i+1) || discourse.AbodeOf(in, false) != discourse.Dwelling || trades[strings.ToLower(discourse.Last(in))] || len(in) < 5 && in == strings.ToUpper(in) && !initialled[in] {
		return false
	}
	for _, w := range c.Whens {
		if w.Since && w.HasDay && t.Now.Day-w.Day >= stayed {
			settles(t, c, in, 0.8)
			return true
		}
	}
	return false
}

// trades are fields of work, with a capital.
var trades = syntax.Set("marketing sales finance engineering research academia politics accounting design logistics education therapy recovery remission retail advertising procurement consulting banking insurance theatre music film")

// initialled are places that are written in capitals, unlike fields such as IT.
var initialled = map[string]bool{"UK": true, "US": true, "USA": true, "UAE": true, "LA": true, "NYC": true, "DC": true}

// moves takes "I moved to Graz", "we moved here from Leeds".
func moves(t *discourse.Talk, c *discourse.Clause, i int) {
	if from, ok := c.After(i, 2, "from"); ok && !c.Neg && c.W(i) == "here" {
		t.Fact(c, "biography", "lived_in", from, true, 0.8)
		return
	}
	o, ok := discourse.WentTo(c, i)
	if !ok || c.Neg || discourse.Vague(o) || !c.Past && !c.Perfect {
		return
	}
	if discourse.Posts[strings.ToLower(discourse.Last(o))] && t.Part == discourse.Facts { // "my boss moved to the Leeds office"
		noted.NoteClause(t, c, c.Sentence, !c.Perfect, false, discourse.NotedSure)
		return
	}
	if discourse.AbodeOf(o, t.Plain) != discourse.Dwelling {
		return
	}
	if inner, ok := c.After(i, 9, "in"); ok && strings.Contains(o, " in ") {
		o = inner
	}
	before := len(t.Out.Candidates)
	if settles(t, c, o, 0.85); len(t.Out.Candidates) > before {
		t.Out.Candidates[before].EventType = "move"
	}
}

// settles proposes where somebody lives or, in a hotel, stays.
func settles(t *discourse.Talk, c *discourse.Clause, value string, confidence float64) {
	for _, why := range [...]string{" with ", " for ", " because ", " after ", " when "} {
		value, _, _ = strings.Cut(value, why)
	}
	switch discourse.AbodeOf(value, t.Plain) {
	case discourse.Dwelling:
		t.Fact(c, "residence", "home", value, false, confidence)
	case discourse.Passing:
		if !c.Past && !c.Perfect && !c.Neg {
			t.Fact(c, "place", "staying_at", value, false, 0.7)
		}
	}
}

// employs reports whether somebody can work for value.
func employs(value string, plain bool) bool {
	words := strings.Fields(value)
	if len(words) == 0 {
		return false
	}
	first := strings.ToLower(words[0])
	if syntax.WeekdayOf(strings.TrimSuffix(first, "s"), false) >= 0 || syntax.MonthOf(first) > 0 && first != "may" && first != "march" || workTimes[first] {
		return false
	}
	for i, w := range words {
		if i > 0 && syntax.Preposition(w) {
			break
		}
		low := strings.ToLower(w)
		if workTimes[low] {
			return false
		}
		if discourse.Capitalised(w) || organisations[low] || organisations[strings.TrimSuffix(low, "s")] || strings.HasSuffix(low, "'s") {
			return true
		}
	}
	_, number := syntax.Number(first)
	return plain && len(words) <= 2 && !number
}
