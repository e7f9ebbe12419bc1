package query

import (
	"context"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/internal/hans"
	"github.com/locket-dev/locket/internal/lower"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/node/serve"
)

// maxHints is how many secrets, and how many names, an answer mentions at most beside the evidence.
const maxHints = 3

// hint adds to the owner's answer what the evidence can't say: that the vault has a matching
// secret, or that no memory contains a name from the question.
func (qr *Query) hint(ctx context.Context, r *serve.AskRequest, res *serve.AskResult) error {
	if !r.Sees.IsZero() {
		return nil // an app learns neither what the vault holds nor what is missing
	}
	choice, err := qr.chooserOf(&serve.SearchRequest{})
	if err != nil {
		return err
	}
	found, err := qr.find(ctx, serve.SearchRequest{Query: r.Question, K: maxHints, Types: []memory.Type{memory.Vault}, Only: serve.OnlyMemories, At: r.At}, choice)
	if err != nil {
		return err
	}
	most := 1 // a secret whose label has no word of the question was found only by similarity
	all := len(recall.ContentWords(r.Question))
	for _, h := range found.Hits {
		if h.Memory == nil || h.Memory.State != memory.Active {
			continue
		}
		n := recall.Shared(r.Question, h.Memory.Text)
		if !found.Known && n < all { // a label with all of the words is meant, however unsure recall is
			continue
		}
		if n > most {
			res.Vault, most = nil, n
		}
		if n == most {
			res.Vault = append(res.Vault, serve.VaultHint{ID: h.ID, Label: h.Memory.Text})
		}
	}
	if res.Known {
		return nil
	}
	for _, name := range asked(r.Question) {
		found, err := qr.find(ctx, serve.SearchRequest{Query: name, K: maxHints, At: r.At}, choice)
		if err != nil {
			return err
		}
		if !mention(found.Hits, name) && len(res.Unheard) < maxHints {
			res.Unheard = append(res.Unheard, name)
		}
	}
	return nil
}

// mention reports whether one of the hits contains a name.
func mention(hits []serve.Hit, name string) bool {
	name = strings.ToLower(hans.Fold(name))
	for i := range hits {
		text := hits[i].Text
		for _, e := range hits[i].Evidence {
			text += " " + e.Excerpt
		}
		if strings.Contains(strings.ToLower(hans.Fold(text)), name) {
			return true
		}
	}
	return false
}

// askedAfter finds the person that a question is about: "where does ben live", 小王住在哪里.
var (
	askedAfter   = regexp.MustCompile(`(?i)\b(?:does|did|is|was|has|of|about|with|know)\s+(\pL+)`)
	askedAfterZh = regexp.MustCompile(`^(?:请问|你知道)?(\p{Han}{2,3}?)(?:现在|目前|以前)?(?:住|在哪|是谁|的|是?什么时候|喜欢|对什么|做什么)`)
)

// notNamesZh finds words for anybody ("everyone"), and for relatives, who need not be called so in
// what was said.
var notNamesZh = lazily(`^(?:大家|有人|` + partnerZh + `)$`)

// asked returns the names in a question, as they are written.
func asked(question string) (list []string) {
	folded := hans.Fold(question)
	if m := askedAfterZh.FindStringSubmatchIndex(folded); m != nil && !strings.ContainsAny(folded[m[2]:m[3]], "我你他她它咱谁这那") {
		if notNamesZh().MatchString(folded[m[2]:m[3]]) {
			return nil
		}
		return []string{question[m[2]:m[3]]}
	}
	after := map[string]bool{}
	for _, m := range askedAfter.FindAllStringSubmatch(question, -1) {
		after[strings.ToLower(m[1])] = true
	}
	first, low := true, lower.Of(question)
	for _, w := range recall.ContentWords(question) {
		at := strings.Index(low, w.Text)
		start := first && at == 0
		if first = false; !w.Han && at >= 0 && utf8.RuneCountInString(w.Text) > 1 && (w.Name && !start || after[w.Text]) && !notNames().MatchString(w.Text) {
			list = append(list, question[at:at+len(w.Text)])
		}
	}
	return list
}
