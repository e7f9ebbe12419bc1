package rules

import "strings"

// medicine reads "20 mg of lisinopril", "two tablets of aspirin", "lisinopril"
// from word i: the medicine, and how much of it. Without an amount only a
// medicine that is known by its name is one. Empty: neither.
func (c *clause) medicine(i int) (drug, amount string) {
	k := i
	_, counted := number(c.w(k))
	unit := strings.TrimLeft(c.w(k), "0123456789.")
	switch {
	case len(unit) < len(c.w(k)) && doseUnit(unit): // 20mg
		k++
	case counted && doseUnit(c.w(k+1)):
		k += 2
	default:
		o, _ := c.object(i)
		if words := strings.Fields(strings.ToLower(o)); len(words) > 0 && len(words) <= 2 && (drugWord(words[len(words)-1]) || words[0] == "vitamin") {
			return o, ""
		}
		return "", ""
	}
	amount = c.join(i, k)
	if c.w(k) == "of" {
		k++
	}
	drug, _ = c.object(k)
	if cut := strings.Index(drug, " for "); cut > 0 {
		drug = drug[:cut]
	}
	return drug, amount
}

// takes proposes what somebody takes for their health.
func (t *talk) takes(c *clause, i int) bool {
	drug, amount := c.medicine(i)
	if drug == "" || c.past && !c.usedTo || c.kind == 't' {
		return false
	}
	f := t.fact(c, "health", "medication", drug, true, 0.85)
	if f == nil {
		return false
	}
	f.Sensitivity = "private"
	if amount != "" {
		f.Object = amount + " of " + drug
	}
	return true
}

func doseUnit(s string) bool {
	switch s {
	case "mg", "mcg", "µg", "ml", "milligrams", "milligram", "micrograms", "millilitres", "milliliters", "units", "tablet", "tablets", "pill", "pills", "capsule", "capsules", "drops", "puffs", "iu":
		return true
	}
	return false
}

// drugWord knows medicines by the endings of their names (the stems of the WHO's
// list of international nonproprietary names), and some without one.
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

// foregone is what one is "off", and lives without.
func foregone(s string) bool {
	switch last(strings.ToLower(s)) {
	case "dairy", "gluten", "sugar", "caffeine", "alcohol", "wheat", "meat", "coffee", "chocolate", "bread", "carbs", "lactose", "eggs", "nuts", "soy", "milk", "cheese", "pork", "beef", "fish", "shellfish", "seafood", "salt", "nicotine", "cigarettes", "sweets", "beer", "wine", "soda":
		return true
	}
	return false
}

// mealtime reports what is eaten at some hour, whatever it is.
func mealtime(s string) bool {
	switch last(strings.ToLower(s)) {
	case "breakfast", "brunch", "lunch", "dinner", "supper":
		return true
	}
	return false
}

// cannotHave takes what somebody won't eat, or can't take: "my husband won't touch
// coriander", "I can't take penicillin".
func (t *talk) cannotHave(c *clause) bool {
	if c.kind != 's' && c.kind != 'p' && c.kind != 'w' || c.past || c.firstTime() != nil || c.conditional() {
		return false
	}
	i := c.vi + 1
	kind := "diet"
	switch c.verb {
	case "eat", "drink", "touch":
	case "take", "tolerate":
		if !c.can {
			return false
		}
		kind = "health"
		if determiner(c.w(i)) || c.verb == "take" && len(c.words) > i+2 {
			return false // "I can't take the noise"
		}
	default:
		return false
	}
	for _, with := range [...]string{"anything with", "anything", "things with"} {
		if n := len(strings.Fields(with)); c.join(i, i+n) == with {
			i += n
			break
		}
	}
	o, _ := c.object(i)
	for _, tail := range [...]string{" in it", " in them"} {
		o = strings.TrimSuffix(o, tail)
	}
	if o == "" || vague(o) || o == "much" || mealtime(o) {
		return false
	}
	if kind == "health" && !drugWord(last(strings.ToLower(o))) && !foregone(o) {
		if c.verb == "take" {
			return false // "I can't take calls"
		}
		c.neg = false // "I can't tolerate rudeness"
		return t.fact(c, "preference", "dislikes", o, true, 0.85) != nil
	}
	c.neg = false
	f := t.fact(c, kind, "avoids", o, true, 0.85)
	if f != nil && kind == "health" {
		f.Sensitivity = "private"
	}
	return f != nil
}
