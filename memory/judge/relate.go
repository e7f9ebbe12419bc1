package judge

import (
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/locket-dev/locket/internal/hans"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/recall"
)

// terms are the words of a text that carry meaning, by recall's rules.
type terms map[string]bool

func termsOf(text string) terms {
	out := terms{}
	for _, w := range recall.ContentWords(text) {
		if !w.Han || len([]rune(w.Text)) == 2 {
			out[w.Term] = true
		}
	}
	if len(out) == 0 { // Chinese text of single characters
		for _, w := range recall.ContentWords(text) {
			out[w.Term] = true
		}
	}
	return out
}

func (t terms) without(o terms) terms {
	out := terms{}
	for w := range t {
		if !o[w] {
			out[w] = true
		}
	}
	return out
}

// both returns how many terms two texts share.
func (t terms) both(o terms) (n int) {
	for w := range t {
		if o[w] {
			n++
		}
	}
	return n
}

// han reports whether most words of a text are Chinese.
func han(text string) bool {
	n := 0
	for _, w := range recall.ContentWords(text) {
		if w.Han {
			n++
		} else {
			n--
		}
	}
	return n > 0
}

// aboutMemory are words about memories themselves: a line and a memory that share only these are
// not related.
var aboutMemory = termsOf(`memory memories remember forget delete erase remove clear wipe ignore instruction instructions previous
system prompt assistant user wearer everything database record records note notes 记忆 删除 忘记 清除 所有 全部 指令 系统 忽略 助手`)

// denials are the words by which a line says that something is no longer true.
var denials = []string{" not ", "n't ", "n’t ", " never ", " no ", " no longer", " anymore", " any more", " stop", " quit", " gave up", " give up", " given up",
	" cancel", " called off", " ended ", " is over", " sold ", " broke up", " split up", " left ", " moved out", " died ", " dead ", " lost ", " instead",
	" without ", " used to ", " got rid", " returned ", " resign", " retired", " divorc",
	"不", "没", "取消", "辞", "分手", "离婚", "离开", "卖", "死", "去世", "丢", "戒", "停", "改", "退", "别"}

// denies reports whether a line has a denial.
func denies(line string) bool {
	padded := " " + strings.ToLower(strings.NewReplacer(".", " ", ",", " ", "!", " ", ";", " ").Replace(hans.Fold(line))) + " "
	return slices.ContainsFunc(denials, func(d string) bool { return strings.Contains(padded, d) })
}

// deniesIt returns an error if no clause of a quote denies a memory. A clause
// denies it if a denial stands beside two words of the memory, or beside the
// value of its slot, and if these are a third of the words that the clause is
// about. A clause that names everything denies nothing.
func deniesIt(quote string, m *memory.Memory, names terms) error {
	about := termsOf(m.Text).without(names).without(aboutMemory)
	value := terms{}
	if m.Slot != nil {
		value = termsOf(m.Slot.Value).without(names).without(aboutMemory)
		for w := range value {
			about[w] = true
		}
	}
	denied := false
	for _, clause := range strings.FieldsFunc(quote, func(r rune) bool { return strings.ContainsRune(".,;:!?\n。，；：！？、", r) }) {
		if !denies(clause) {
			continue
		}
		denied = true
		said := termsOf(clause)
		n := about.both(said)
		if (n >= min(2, max(1, len(about))) || value.both(said) > 0) && 3*n >= len(said.without(names)) {
			return nil
		}
	}
	if !denied {
		return errors.New("what it quotes denies nothing")
	}
	return errors.New("what it quotes does not deny what it would end")
}

// orders are the words with which a command to an assistant begins.
var orders = []string{"ignore ", "disregard ", "forget ", "delete ", "erase ", "remove ", "clear ", "wipe ", "pretend ", "you are now", "you must", "system:", "assistant:", "act as ", "override ",
	"remind me", "please ", "hey ", "忽略", "删除", "清除", "忘记", "忘掉", "请", "你现在是", "你必须"}

// asks reports whether a sentence is a question or a command, which states nothing.
func asks(line string) (string, bool) {
	t := strings.TrimLeftFunc(strings.ToLower(hans.Fold(line)), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	t = strings.TrimRight(t, " \t\n!！.。\"'”’)]»」")
	if strings.HasSuffix(t, "?") || strings.HasSuffix(t, "？") || strings.HasSuffix(t, "吗") {
		return "it quotes a question", true
	}
	t += " " // the last word may belong to an order
	for _, o := range orders {
		if strings.HasPrefix(t, o) {
			return "it quotes a command", true
		}
	}
	return "", false
}

// ends are the characters that end a sentence.
const ends = ".!?\n。！？"

// statements returns the words of a span of a text without the sentences that ask or command, even
// if the span begins or ends within them. If nothing is left, why says whether they ask or command.
func statements(text string, start, end int) (states, why string) {
	why = "it quotes nothing"
	var b strings.Builder
	for from := 0; from < end; {
		to := len(text)
		if i := strings.IndexAny(text[from:], ends); i >= 0 {
			to = from + i
			for to < len(text) { // "?!" is one end
				r, size := utf8.DecodeRuneInString(text[to:])
				if !strings.ContainsRune(ends, r) {
					break
				}
				to += size
			}
		}
		sentence, part := text[from:to], text[min(max(from, start), to):min(to, end)]
		from = to
		if !strings.ContainsFunc(part, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			continue
		}
		if does, ok := asks(sentence); ok {
			why = does
			continue
		}
		b.WriteString(part)
	}
	return strings.TrimSpace(b.String()), why
}

// speaksOf reports whether a speaker may say what fills a person's slot: the speaker's own slot, or
// that of a person whom the line names.
func speaksOf(subject string, m *Message, quote, wearer string) bool {
	subject = memory.Normal(subject)
	speaker := memory.Normal(m.Speaker)
	if subject == "user" || subject == memory.Normal(wearer) {
		return speaker == "" || speaker == memory.Normal(wearer)
	}
	return subject == speaker || strings.Contains(" "+memory.Normal(quote)+" ", " "+subject+" ") || han(subject) && strings.Contains(memory.Normal(quote), subject)
}

// knows reports whether a speaker can know that a memory without a slot is no longer true. The
// wearer can, and so can the one who said it and the people it names. If it does not name the
// wearer, anybody whose voice has a name can.
func knows(k *memory.Memory, m *Message, wearer string) bool {
	speaker := memory.Normal(m.Speaker)
	if speaker == "" || speaker == memory.Normal(wearer) {
		return true
	}
	if memory.Unnamed(m.Speaker) {
		return false
	}
	said := len(k.Evidence) > 0
	for _, e := range k.Evidence {
		said = said && memory.Normal(e.Speaker) == speaker
	}
	text := memory.Normal(k.Text)
	return said || hasName(text, speaker) || !hasName(text, memory.Normal(wearer))
}

// hasName reports whether a text has a name as a word. Chinese characters may be next to it without a
// space.
func hasName(text, name string) bool {
	apart := func(r rune) bool {
		return r == utf8.RuneError || unicode.Is(unicode.Han, r) || !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}
	for at := 0; name != ""; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			break
		}
		at += i + len(name)
		before, _ := utf8.DecodeLastRuneInString(text[:at-len(name)])
		after, _ := utf8.DecodeRuneInString(text[at:])
		if apart(before) && apart(after) {
			return true
		}
	}
	return false
}
