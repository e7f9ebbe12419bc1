package secrets

import (
	"strings"

	"github.com/locket-dev/locket/internal/hans"
	"github.com/locket-dev/locket/wasm/abi"
)

// spokenRun reads digits that are said one by one from token i on, with commas in between; end is
// the token after the last.
func spokenRun(toks []token, i int) (digits string, end int) {
	var b []byte
	end = i
	for k := i; k < len(toks) && len(b) < 20; k++ {
		if toks[k].s == "," || toks[k].s == "，" || toks[k].s == "、" {
			continue
		}
		d, ok := digitWord(toks[k].s)
		if !ok || len(b) == 0 && (toks[k].s == "o" || toks[k].s == "oh") {
			if (toks[k].s == "double" || toks[k].s == "triple") && k+1 < len(toks) {
				if d, ok := digitWord(toks[k+1].s); ok {
					b = append(b, d, d)
					if toks[k].s == "triple" {
						b = append(b, d)
					}
					k++
					end = k + 1
					continue
				}
			}
			break
		}
		b = append(b, d)
		end = k + 1
	}
	return string(b), end
}

// spokenNumbers finds cards by Luhn, and social security numbers after their name, that are said
// digit by digit.
func spokenNumbers(toks []token) []found {
	var all []found
	for i := 0; i < len(toks); i++ {
		digits, end := spokenRun(toks, i)
		if len(digits) < 9 {
			i = max(i, end-1)
			continue
		}
		v := value{toks[i].start, toks[end-1].end, digits, end}
		switch n := len(digits); {
		case n >= 13 && n <= 19 && cardIssuer(digits) && luhn(digits):
			all = append(all, found{value: v, known: true, cue: cue{noun: "card", entry: "card", label: "card ending in " + digits[n-4:]}})
		case n == 9 && ssn(digits) && socialCue(toks, i):
			all = append(all, found{value: v, known: true, cue: cue{noun: "national_id", entry: "national_id", label: "social security number"}})
		}
		i = end - 1
	}
	return all
}

// dangling finds at least four digits said one by one after a cue without a value: "I'll tell you
// the PIN. Ready? Four four oh seven." It also finds them after something that is opened: "our
// alarm is nine oh four four".
func dangling(text string, toks []token, c cue) (found, bool) {
	if c.class == keyValue || c.class == phrase || c.class == tokenValue {
		return found{}, false
	}
	for i := c.value; i >= 0 && i < min(len(toks), c.value+14); i++ {
		if digits, end := spokenRun(toks, i); len(digits) >= 4 && len(digits) <= 12 && (end == len(toks) || !isUnit(toks[end].s)) {
			return found{value: value{toks[i].start, toks[end-1].end, digits, end}, cue: c, known: true}, true
		}
	}
	return found{}, false
}

// dialled finds the turns of a dial, "39 left, 12 right, 27 left", if a safe or lock is mentioned,
// and "our alarm is nine oh four four".
func dialled(ev *abi.Event, toks []token) []found {
	var all []found
	text := ev.Text
	safe := opens(text)
	if n := len(ev.Before); n > 0 && ev.At-ev.Before[n-1].At <= maxWait {
		safe = safe || opens(ev.Before[n-1].Text)
	}
	for i := 0; i < len(toks); i++ {
		if (toks[i].s == "alarm" || toks[i].s == "gate" || toks[i].s == "door" || toks[i].s == "lock" || toks[i].s == "safe") && i+2 < len(toks) && (toks[i+1].s == "is" || toks[i+1].s == "'s") {
			if digits, end := spokenRun(toks, i+2); len(digits) >= 4 && len(digits) <= 8 && (end == len(toks) || toks[end].kind == 'p') {
				all = append(all, found{value: value{toks[i+2].start, toks[end-1].end, digits, end}, known: true,
					cue: cue{noun: "code", class: codeCode, entry: "pin", label: "code for the " + toks[i].s, start: toks[i].start, end: toks[i].end}})
				i = end - 1
				continue
			}
		}
		if (toks[i].s == "locker" || toks[i].s == "padlock" || toks[i].s == "safe") && i+2 < len(toks) && (toks[i+1].s == "is" || toks[i+1].s == "'s") {
			if v, ok := parseValue(text, toks, i+2, codeCode, true); ok && len(digitsOf(v.secret)) >= 6 {
				all = append(all, found{value: v, known: true, cue: cue{noun: "code", class: codeCode, entry: "pin", label: "code for the " + toks[i].s, start: toks[i].start, end: toks[i].end}})
				i = v.next - 1
				continue
			}
		}
		if !safe {
			continue
		}
		n, end, least := 0, i, 3
		for k := i; k < len(toks); {
			if n > 0 && betweenTurns[toks[k].s] || toks[k].s == "," || toks[k].s == "，" || toks[k].s == "then" {
				k++
				continue
			}
			if k+1 < len(toks) && toks[k+1].s == "转" {
				least = 2 // 左转三圈到二十五
			}
			took := turnOf(toks, k)
			if took == 0 {
				break
			}
			n, k = n+1, k+took
			end = k
		}
		if n >= least {
			s, e := toks[i].start, toks[end-1].end
			all = append(all, found{value: value{s, e, text[s:e], end}, known: true, cue: cue{noun: "combination", class: codeCode, entry: "pin", label: "combination of the safe"}})
			i = end - 1
		}
	}
	return all
}

func opens(text string) bool {
	l := strings.ToLower(hans.Fold(text))
	return strings.Contains(l, "safe") || strings.Contains(l, "combination") || strings.Contains(l, "combo") || strings.Contains(l, "padlock") || strings.Contains(l, "保险") || strings.Contains(l, "密码")
}

// betweenTurns are words between two turns of a dial in Chinese.
var betweenTurns = map[string]bool{"再": true, "然": true, "后": true, "最": true, "接": true, "着": true}

// dialTurn reads one turn of a dial at token i in Chinese, with its number of rounds: 左转三圈到二十五.
func dialTurn(toks []token, i int, number func(int) int) int {
	at := func(k int) string {
		if k < len(toks) {
			return toks[k].s
		}
		return ""
	}
	k := i + 1
	if at(k) != "转" {
		return 0
	}
	k++
	if n := number(k); n > 0 && at(k+n) == "圈" {
		k += n + 1
	}
	switch at(k) {
	case "到", "至":
		k++
	case "停", "对":
		k += 2 // 停在, 对准
	}
	n := number(k)
	if next := at(k + n); n == 0 || next == "米" || next == "公" || next == "号" || next == "圈" {
		return 0
	}
	return k + n - i
}

// turnOf reads one turn of a dial at token i: 39 left, left 39, 左三十九.
func turnOf(toks []token, i int) int {
	number := func(k int) int {
		n := 0
		for k+n < len(toks) && n < 4 {
			t := toks[k+n]
			_, digit := digitWord(t.s)
			_, _, pair := pairWord(t.s)
			if t.kind != 'n' && !digit && !pair && t.s != "十" {
				break
			}
			n++
		}
		return n
	}
	side := func(k int) bool {
		return k < len(toks) && (toks[k].s == "left" || toks[k].s == "right" || toks[k].s == "左" || toks[k].s == "右")
	}
	if side(i) {
		if n := number(i + 1); n > 0 && !(i+1+n < len(toks) && toks[i+1+n].s == "圈") {
			return 1 + n
		}
		return dialTurn(toks, i, number)
	}
	if n := number(i); n > 0 && side(i+n) {
		return n + 1
	}
	return 0
}
