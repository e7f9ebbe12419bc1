package trust

import (
	"slices"

	"github.com/locket-dev/locket/wasm"
)

// Cannot is what no plugin can do, whatever it asks for.
const Cannot = "It cannot reach the network, your files, your other memories or the vault's contents."

type sentence struct{ ask, says string }

var reads = []sentence{
	{"sees text", "It reads each line that is said: the words, who said them and when."},
	{"sees utterance", "It hears each utterance that was cut from a recording, and reads its words."},
	{"sees photo", "It sees your photos in grey, no larger than 640×480."},
	{"sees audio", "It hears all that your devices record."},
	{"sees location", "It learns where you are."},
	{"sees sensor", "It reads the sensors of your devices."},
	{"sees button", "It learns when you press a button."},
	{"may context", "It reads up to 8 earlier lines of the conversation."},
	{"may rgb", "It sees your photos in colour."},
	{"may memories", "It is shown up to 16 of your memories that bear on what is said; none that is private or secret, and none of the vault."},
	{"reads core", "It reads what Locket always keeps in mind about you."},
	{"reads episodic", "It reads notes of what happened."},
	{"reads semantic", "It reads facts about you and others."},
	{"reads procedural", "It reads how things are done."},
	{"reads resource", "It reads the titles of photos, files and links."},
	{"may redact", "It sees what you say before secrets are taken out of it."},
	{"may config", "It reads the settings that you make for it."},
	{"may now", "It learns the time of each event."},
}

var writes = []sentence{
	{"proposes core", "It can propose what Locket always keeps in mind about you."},
	{"proposes episodic", "It can note what happened."},
	{"proposes semantic", "It can note facts about you and others."},
	{"proposes procedural", "It can note how things are done."},
	{"proposes resource", "It can keep photos, files and links."},
	{"may vault", "It can put secrets into your vault."},
	{"may redact", "It can take words out of what you said, for good."},
	{"may derive", "It can cut recordings into utterances, which other plugins then get."},
	{"may state", "It can keep up to 64 kB of notes of its own from one event to the next."},
	{"may log", "It can write to a log that only you see."},
}

// Asks lists what a plugin wants to see and do, as words to which a wearer agrees: "sees text",
// "proposes vault", "may redact". More words in a later version need a new agreement.
func Asks(m *wasm.Manifest) []string {
	asks := []string{}
	for _, k := range m.Kinds {
		asks = append(asks, "sees "+k)
	}
	for _, t := range m.Types {
		asks = append(asks, "proposes "+t)
	}
	for _, t := range m.Memories {
		asks = append(asks, "reads "+t)
	}
	for _, c := range m.Capabilities {
		asks = append(asks, "may "+string(c))
	}
	slices.Sort(asks)
	return slices.Compact(asks)
}

// Reads returns what a plugin learns, a sentence each.
func Reads(m *wasm.Manifest) []string { return sentences(m, reads) }

// Writes returns what a plugin can do, a sentence each.
func Writes(m *wasm.Manifest) []string { return sentences(m, writes) }

// sentences keeps the order of the table, not of the manifest: the same rights give the same text.
func sentences(m *wasm.Manifest, table []sentence) []string {
	asks, out := Asks(m), []string{}
	for _, s := range table {
		if slices.Contains(asks, s.ask) {
			out = append(out, s.says)
		}
	}
	return out
}

// added returns the sentences for rights that were not agreed to.
func added(m *wasm.Manifest, agreed []string) []string {
	asks, out := Asks(m), []string{}
	for _, s := range slices.Concat(reads, writes) {
		if slices.Contains(asks, s.ask) && !slices.Contains(agreed, s.ask) {
			out = append(out, s.says)
		}
	}
	return out
}
