package chinese

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// levels are health measurements.
var levels = [...]struct{ word, attribute string }{{"血压", "blood_pressure"}, {"高压", "blood_pressure"}, {"血糖", "blood_sugar"}, {"糖化", "blood_sugar"}, {"尿酸", "uric_acid"},
	{"胆固醇", "cholesterol"}, {"血脂", "cholesterol"}, {"心率", "heart_rate"}, {"心跳", "heart_rate"}, {"脉搏", "heart_rate"}, {"血氧", "oxygen"}, {"体温", "temperature"}}

// NamesLevel reports whether a text names one of them: a number after it is not an hour.
func NamesLevel(text string) bool {
	for _, l := range levels {
		if strings.Contains(text, l.word) {
			return true
		}
	}
	return false
}

// level takes a measurement: 我妈血压一百五，九十五, 爸早上空腹血糖七点八. The number is not an hour.
func level(t *discourse.Talk, b *discourse.BareZh) bool {
	dated := *b
	dated.Whens = nil
	raw := b.S.Raw()
	for _, w := range b.Whens {
		if said := b.S.Text[b.S.Toks[w.First].Start:b.S.Toks[w.Next-1].End]; w.HasDay && !w.Habit && w.Day <= t.Now.Day {
			raw = strings.Replace(raw, said, "", 1) // 血压今天量的是一百五
			dated.Whens = append(dated.Whens, w)
		}
	}
	for _, l := range levels {
		who, rest, ok := strings.Cut(raw, l.word)
		if !ok {
			continue
		}
		rest = syntax.TrimHeads(rest, "又", "已经", "都", "量的", "测的", "量了", "测了", "量出来", "量", "测", "降到", "升到", "涨到", "高到", "到了", "到", "只有", "有", "是", "高压")
		value, after := levelIn(rest)
		if utf8.RuneCountInString(value) < 2 || strings.Trim(after, "了多左右。，,！啊呢") != "" {
			continue
		}
		second := ""
		if low, more := levelIn(strings.TrimLeft(b.S.Text[b.S.End:], "，, ")); l.attribute == "blood_pressure" && after == "" && (more == "" || strings.IndexAny(more, "，。,") == 0) && !strings.Contains(value, "低压") && low != "" {
			second = "，" + low // 一百五，九十五
		}
		for again := true; again; {
			cut := syntax.TrimTails(strings.TrimRight(who, "，, "), "的", "量", "测", "空腹", "餐后", "饭后", "早上", "早晨", "晚上", "中午", "下午", "又", "刚")
			again, who = cut != who, cut
		}
		p, ok := t.SubjectZh(syntax.StripLeadZh(who))
		if !ok {
			return false
		}
		made := len(t.Out.Candidates)
		t.FactZh(&dated, p, "health", l.attribute, value+second, false, false, 0.85)
		if len(t.Out.Candidates) > made {
			a := &t.Out.Candidates[made]
			a.Sensitivity = "private"
			a.Text = strings.TrimSuffix(a.Text, "。") + second + "。"
		}
		return true
	}
	return false
}

// levelIn returns the number at the beginning of a text, and the text after it: 七点八, 150/95,
// 一百四低压九十, 三十八度五.
func levelIn(text string) (value, after string) {
	after = text
	for {
		rest := strings.TrimLeft(after, syntax.DigitsZh+".点/、度比")
		if low, ok := strings.CutPrefix(rest, "低压"); ok && rest != text {
			rest = low
		}
		if rest == after {
			break
		}
		after = rest
	}
	return text[:len(text)-len(after)], after
}
