package trust

import (
	"github.com/locket-dev/locket/wasm"
)

// Cannot is what no plugin can do, whatever it asks for.
const Cannot = "It cannot reach the network, your files, your other memories or the vault's contents."

type sentence struct{ word, says string }

var kindReads = []sentence{
	{"text", "It reads each line that is said: the words, who said them and when."},
	{"utterance", "It hears each utterance that was cut from a recording, and reads its words."},
	{"photo", "It sees your photos in grey, no larger than 640×480."},
	{"audio", "It hears all that your devices record."},
	{"location", "It learns where you are."},
	{"sensor", "It reads the sensors of your devices."},
	{"button", "It learns when you press a button."},
}

var capabilityReads = []sentence{
	{"context", "It reads up to 8 earlier lines of the conversation."},
	{"rgb", "It sees your photos in colour."},
	{"redact", "It sees what you say before secrets are taken out of it."},
	{"config", "It reads the settings that you make for it."},
	{"now", "It learns the time of each event."},
}

var typeWrites = []sentence{
	{"core", "It can propose what Locket always keeps in mind about you."},
	{"episodic", "It can note what happened."},
	{"semantic", "It can note facts about you and others."},
	{"procedural", "It can note how things are done."},
	{"resource", "It can keep photos, files and links."},
}

var capabilityWrites = []sentence{
	{"vault", "It can put secrets into your vault."},
	{"redact", "It can take words out of what you said, for good."},
	{"derive", "It can cut recordings into utterances, which other plugins then get."},
	{"state", "It can keep up to 64 kB of notes of its own from one event to the next."},
	{"log", "It can write to a log that only you see."},
}

// Reads says, a sentence each, what a plugin gets to know.
func Reads(m *wasm.Manifest) []string {
	return append(pick(kindReads, m.Kinds), pick(capabilityReads, m.Capabilities)...)
}

// Writes says, a sentence each, what a plugin can bring about.
func Writes(m *wasm.Manifest) []string {
	return append(pick(typeWrites, m.Types), pick(capabilityWrites, m.Capabilities)...)
}

// pick keeps the order of the table, not of the manifest: the same rights
// read the same.
func pick[T ~string](table []sentence, words []T) []string {
	out := []string{}
	for _, s := range table {
		for _, w := range words {
			if string(w) == s.word {
				out = append(out, s.says)
			}
		}
	}
	return out
}
