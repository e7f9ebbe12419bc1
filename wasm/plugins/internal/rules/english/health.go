package english

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// medicine reads "20 mg of lisinopril", "two tablets of aspirin", "lisinopril" from word i on: the
// medicine, and how much of it. Without an amount, it only takes a medicine that is known by its
// name. It returns empty strings if there is neither.
func medicine(c *discourse.Clause, i int) (drug, amount string) {
	k := i
	_, counted := syntax.Number(c.W(k))
	unit := strings.TrimLeft(c.W(k), "0123456789.")
	switch {
	case len(unit) < len(c.W(k)) && doseUnit[unit]: // 20mg
		k++
	case counted && doseUnit[c.W(k+1)]:
		k += 2
	default:
		for j := i + 1; j < min(i+4, len(c.Words)-2); j++ { // "these new tablets, amlodipine"
			if w := c.W(j); (w == "tablets" || w == "pills" || w == "meds" || w == "medication") && c.W(j+1) == "," && drugWord(c.W(j+2)) {
				return c.Cased(j + 2), ""
			}
		}
		o, _ := c.Object(i)
		for j, w := range strings.Fields(o) {
			if _, counted := syntax.Number(strings.ToLower(w)); j > 0 && counted || w == "once" || w == "twice" { // "ibuprofen three times a day"
				o = strings.Join(strings.Fields(o)[:j], " ")
				break
			}
		}
		o = syntax.TrimHeads(withoutWhen(o), "his ", "her ", "their ")
		if words := strings.Fields(strings.ToLower(o)); len(words) > 0 && len(words) <= 2 && (drugWord(words[len(words)-1]) || words[0] == "vitamin") {
			return o, ""
		}
		return "", ""
	}
	amount = c.Join(i, k)
	if c.W(k) == "of" {
		k++
	}
	drug, _ = c.Object(k)
	return cutTail(drug), amount
}

// withoutWhen removes from a medicine when or why it is taken: "metformin at night", "aspirin for my
// heart".
func withoutWhen(o string) string {
	words := strings.Fields(o)
	for k := 1; k+1 < len(words); k++ {
		switch strings.ToLower(words[k]) {
		case "at", "with", "on":
			if !dosedWith[strings.ToLower(discourse.Last(o))] {
				continue
			}
		case "for":
			if words[k+1] != strings.ToLower(words[k+1]) {
				continue // for whom
			}
		default:
			continue
		}
		return strings.Join(words[:k], " ")
	}
	return o
}

// dosedWith are times of day at which medicines are taken.
var dosedWith = syntax.Set("night bedtime breakfast lunch dinner supper lunchtime dinnertime teatime mealtimes meals meal food water noon midday stomach weekends")

// moreMedicines returns those that are listed after the first one, which begins at word i:
// "metformin, aspirin and lisinopril".
func moreMedicines(c *discourse.Clause, i int) (drugs []string) {
	_, k := c.Object(i)
	for {
		from := k
		for c.W(k) == "," || c.W(k) == "and" {
			k++
		}
		drug, end := c.Object(k)
		if k == from || len(strings.Fields(drug)) > 2 || !medicineNamed(drug) {
			return drugs
		}
		drugs, k = append(drugs, drug), end
	}
}

// doseOf returns the slot of how much somebody takes of a medicine.
func doseOf(drug string) string { return discourse.Medication + ": " + strings.ToLower(drug) }

// medicineNamed reports whether words end in a medicine, or name a vitamin.
func medicineNamed(s string) bool {
	s = strings.ToLower(s)
	return drugWord(discourse.Last(s)) || strings.HasPrefix(s, "vitamin ")
}

// applies reports whether a medicine that is not swallowed is at word i, after "use" or "inject".
func applies(c *discourse.Clause, i int) bool {
	drug, amount := medicine(c, i)
	switch drug {
	case "iron", "magnesium", "lithium":
		return amount != ""
	}
	return drug != "" && medicineNamed(drug)
}

// noMedicine ends a medicine, in any dose and at any time.
func noMedicine(t *discourse.Talk, c *discourse.Clause, who discourse.Person, drug string) {
	t.Ended(c, who, "health", discourse.Medication, drug, true)
	t.Ended(c, who, "health", doseOf(drug), "", false)
	t.Ended(c, who, "health", doseOf(drug), "", true)
	t.Ended(c, who, "health", discourse.TimesOf(drug), "", true)
}

// takes proposes what somebody takes for their health.
func takes(t *discourse.Talk, c *discourse.Clause, i int) bool {
	drug, amount := medicine(c, i)
	if drug == "" || c.Past && !c.UsedTo || c.Kind == 't' {
		return false
	}
	attribute, value, many := discourse.Medication, drug, true
	whens := timex.FindWhens(c.Sentence, t.Now) // without the day that a statement made from the clause gave them
	c.Whens = slices.DeleteFunc(slices.Clone(c.Whens), func(w timex.When) bool {
		i := slices.IndexFunc(whens, func(o timex.When) bool { return o.First == w.First })
		if i >= 0 {
			w = whens[i]
		}
		return !w.HasDay && !w.Habit // "in the morning" is each morning
	})
	how := howOften(c)
	switch {
	case amount != "" && (how == "" || discourse.HoldsWord(how, "day")): // one dose of each medicine at a time
		attribute, value, many = doseOf(drug), amount, false
	case amount != "": // or one for each time of day
		attribute, value = doseOf(drug), amount+" "+how
	case c.Neg && how != "" && !c.NoLonger:
		t.Ended(c, c.Subj, "health", discourse.TimesOf(drug), how, true)
		return true
	case c.Neg || c.UsedTo:
		for _, each := range append([]string{drug}, moreMedicines(c, i)...) {
			noMedicine(t, c, c.Subj, each)
		}
		return true
	case how != "": // each time of day is a value of its own
		attribute, value = discourse.TimesOf(drug), how
	}
	if (c.Again || c.Back) && attribute != discourse.Medication {
		t.Ended(c, c.Subj, "health", "not_"+discourse.Medication, drug, true)
	}
	f := t.Fact(c, "health", attribute, value, many, 0.85)
	if f == nil {
		return false
	}
	f.Sensitivity = "private"
	if w := c.FirstTime(); w != nil && w.HasDay && timex.Until(&c.Sentence, w) {
		f.TrueTo = w.Ends() // "on antibiotics until Friday"
	}
	if amount == "" && how == "" {
		to := f.TrueTo
		for _, other := range moreMedicines(c, i) {
			if f := t.Fact(c, "health", attribute, other, many, 0.85); f != nil {
				f.Sensitivity, f.TrueTo = "private", to
			}
		}
		return true
	}
	switch {
	case amount != "":
		f.Predicate, f.Object = discourse.Medication, amount+" of "+drug
	case how != "":
		f.Predicate, f.Object = discourse.Medication, drug+" "+how
	}
	return true
}

// weighs takes "I weigh 70 kilos now".
func weighs(t *discourse.Talk, c *discourse.Clause, i int) {
	if _, counted := syntax.Number(c.W(i)); !counted || c.Kind != 's' || c.Past || c.Neg {
		return
	}
	switch c.W(i + 1) {
	case "kilos", "kilo", "kg", "kilograms", "pounds", "lbs", "stone":
		if after := c.W(i + 2); after != "" && after != "now" && after != "again" && after != "today" {
			return // "5 kilos more than my sister", "50 kilos of potatoes"
		}
		if f := t.Fact(c, "biography", "weight", c.Join(i, i+2), false, 0.85); f != nil {
			f.Sensitivity = "private"
		}
	}
}

var doseUnit = syntax.Set("mg mcg µg ml milligrams milligram micrograms millilitres milliliters units tablet tablets pill pills capsule capsules drops puffs iu")

// drugWord recognises medicines by the endings of their names (the stems of the WHO's list of
// international nonproprietary names), and some without such an ending.
func drugWord(s string) bool {
	for _, stem := range [...]string{"pril", "olol", "statin", "sartan", "cillin", "mycin", "prazole", "dipine", "gliptin", "gliflozin", "azepam", "oxetine", "traline", "triptan", "thyroxine", "floxacin", "parin", "profen", "cycline", "conazole", "afil", "platin", "tidine"} {
		if strings.HasSuffix(s, stem) && len(s) > len(stem)+1 {
			return true
		}
	}
	switch s {
	case "aspirin", "insulin", "warfarin", "metformin", "paracetamol", "acetaminophen", "citalopram", "escitalopram", "prednisone", "prednisolone", "methotrexate", "lithium", "melatonin", "ritalin", "antibiotics", "antidepressants", "antihistamines", "statins", "painkillers", "steroids", "opioids", "morphine", "naproxen", "codeine", "tramadol", "iron", "magnesium":
		return true
	}
	return false
}
