package query

import (
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

func TestWithoutSounds(t *testing.T) {
	at := time.Date(2026, 9, 14, 10, 0, 0, 0, time.UTC)
	for lines, want := range map[string]string{
		"Hm. / Yeah. / I'm moving to Bern. / Okay, right! / 嗯。 / 好的好的。 / Uh-huh. / 对对":   "I'm moving to Bern.",
		"Do you eat meat? / No. / Ah, okay. / 你吃肉吗？ / 嗯，对":                               "Do you eat meat? / No. / Ah, okay. / 你吃肉吗？ / 嗯，对",
		"Note the number. / Yesterday. / Normandy / Oh dear, my knee / 好吃 / 对门的王阿姨 / 啊？": "Note the number. / Yesterday. / Normandy / Oh dear, my knee / 好吃 / 对门的王阿姨 / 啊？",
	} {
		var hits []serve.Hit
		for i, text := range strings.Split(lines, " / ") {
			hits = append(hits, serve.Hit{Text: text, At: at.Add(time.Duration(i) * 5 * time.Second), Utterance: new(memory.Utterance)})
		}
		hits = append(hits, serve.Hit{Text: "Yes.", Memory: new(memory.Memory)})
		var got []string
		for _, h := range withoutSounds(hits) {
			got = append(got, h.Text)
		}
		if got := strings.Join(got, " / "); got != want+" / Yes." {
			t.Errorf("%q: %q", lines, got)
		}
	}
}
