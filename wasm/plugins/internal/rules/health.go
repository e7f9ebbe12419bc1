package rules

import (
	"strings"
	"unicode/utf8"
)

// medicine reads "20 mg of lisinopril", "two tablets of aspirin", "lisinopril"
// from word i: the medicine, and how much of it. Without an amount only a
// medicine that is known by its name is one. Empty: neither.
func (c *clause) medicine(i int) (drug, amount string) {
	k := i
	_, counted := number(c.w(k))
	unit := strings.TrimLeft(c.w(k), "0123456789.")
	switch {
	case len(unit) < len(c.w(k)) && doseUnit[unit]: // 20mg
		k++
	case counted && doseUnit[c.w(k+1)]:
		k += 2
	default:
		for j := i + 1; j < min(i+4, len(c.words)-2); j++ { // "these new tablets, amlodipine"
			if w := c.w(j); (w == "tablets" || w == "pills" || w == "meds" || w == "medication") && c.w(j+1) == "," && drugWord(c.w(j+2)) {
				return c.cased(j + 2), ""
			}
		}
		o, _ := c.object(i)
		for j, w := range strings.Fields(o) {
			if _, counted := number(strings.ToLower(w)); j > 0 && counted || w == "once" || w == "twice" { // "ibuprofen three times a day"
				o = strings.Join(strings.Fields(o)[:j], " ")
				break
			}
		}
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
	return cutTail(drug), amount
}

// medication is the slot of the medicines that somebody takes.
const medication = "medication"

// doseOf is the slot of how much somebody takes of a medicine.
func doseOf(drug string) string { return medication + ": " + strings.ToLower(drug) }

// timesOf is the slot of when somebody takes a medicine of which they name no dose.
func timesOf(drug string) string { return routineSlot("take " + strings.ToLower(drug)) }

// medicineNamed reports words that end in a medicine, or name a vitamin.
func medicineNamed(s string) bool {
	s = strings.ToLower(s)
	return drugWord(last(s)) || strings.HasPrefix(s, "vitamin ")
}

// noMedicine ends a medicine, in whatever dose and at whatever time.
func (t *talk) noMedicine(c *clause, who person, drug string) {
	t.ended(c, who, "health", medication, drug, true)
	t.ended(c, who, "health", doseOf(drug), "", false)
	t.ended(c, who, "health", doseOf(drug), "", true)
	t.ended(c, who, "health", timesOf(drug), "", true)
}

// takes proposes what somebody takes for their health.
func (t *talk) takes(c *clause, i int) bool {
	drug, amount := c.medicine(i)
	if drug == "" || c.past && !c.usedTo || c.kind == 't' {
		return false
	}
	attribute, value, many := medication, drug, true
	how := c.howOften()
	switch {
	case amount != "" && (how == "" || holdsWord(how, "day")): // one dose of each medicine at a time
		attribute, value, many = doseOf(drug), amount, false
	case amount != "": // or one for each time of day
		attribute, value = doseOf(drug), amount+" "+how
	case c.neg && how != "" && !c.noLonger:
		t.ended(c, c.subj, "health", timesOf(drug), how, true)
		return true
	case c.neg || c.usedTo:
		t.noMedicine(c, c.subj, drug)
		return true
	case how != "": // each time of day beside the others
		attribute, value = timesOf(drug), how
	}
	if (c.again || c.back) && attribute != medication {
		t.ended(c, c.subj, "health", "not_"+medication, drug, true)
	}
	f := t.fact(c, "health", attribute, value, many, 0.85)
	if f == nil {
		return false
	}
	f.Sensitivity = "private"
	if w := c.firstTime(); w != nil && w.hasDay && c.until(w) {
		f.TrueTo = w.ends() // "on antibiotics until Friday"
	}
	switch {
	case amount != "":
		f.Predicate, f.Object = medication, amount+" of "+drug
	case how != "":
		f.Predicate, f.Object = medication, drug+" "+how
	}
	return true
}

// weighs takes "I weigh 70 kilos now".
func (t *talk) weighs(c *clause, i int) {
	if _, counted := number(c.w(i)); !counted || c.kind != 's' || c.past || c.neg {
		return
	}
	switch c.w(i + 1) {
	case "kilos", "kilo", "kg", "kilograms", "pounds", "lbs", "stone":
		if after := c.w(i + 2); after != "" && after != "now" && after != "again" && after != "today" {
			return // "5 kilos more than my sister", "50 kilos of potatoes"
		}
		if f := t.fact(c, "biography", "weight", c.join(i, i+2), false, 0.85); f != nil {
			f.Sensitivity = "private"
		}
	}
}

var doseUnit = set("mg mcg µg ml milligrams milligram micrograms millilitres milliliters units tablet tablets pill pills capsule capsules drops puffs iu")

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

// takesZh takes what somebody takes for their health: 我每天吃两片阿司匹林, 我妈在吃二甲双胍.
func (t *talk) takesZh(b *bareZh) bool {
	x := trimZhEnd(b.text)
	if containsAny(x, "不", "没", "忘", "了", "过", "想", "别", "能", "如果", "要是", "给") {
		return false
	}
	for _, verb := range [...]string{"吃", "服用", "服", "打"} {
		who, drug, ok := strings.Cut(x, verb)
		for cut := ok; cut; {
			who, cut = cutEnd(who, "一天", "每天", "天天", "早晚", "各", "都", "饭后", "饭前", "睡前", "现在", "正在", "在", "一直", "长期", "按时", "得", "要")
		}
		for _, unit := range [...]string{"片", "粒", "颗", "次", "毫克", "支", "针"} {
			n, rest, counted := strings.Cut(drug, unit)
			if counted && rest != "" && utf8.RuneCountInString(n) <= 3 && strings.Trim(n, "0123456789一二两三四五半") == "" {
				drug = rest
				break
			}
		}
		if !ok || !drugZh(drug) || utf8.RuneCountInString(who) > 6 {
			continue
		}
		p, known := t.subjectZh(who)
		if !known || who == "" && !strings.HasPrefix(x, "在"+verb) {
			continue
		}
		for i := range b.whens {
			if w := &b.whens[i]; w.habit && w.next > w.first { // each time of day beside the others
				when, made := b.s.text[b.s.toks[w.first].start:b.s.toks[w.next-1].end], len(t.out.Candidates)
				if t.healthZh(b, p, timesOf(drug), when); len(t.out.Candidates) > made {
					a := &t.out.Candidates[made]
					a.Predicate, a.Object = medication, drug+" "+when
				}
				return true
			}
		}
		t.healthZh(b, p, medication, drug)
		return true
	}
	return false
}
