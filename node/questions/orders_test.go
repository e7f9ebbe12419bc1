package questions

import (
	"testing"
	"time"
)

func TestParseOrder(t *testing.T) {
	for text, want := range map[string]Order{
		"Locket, stop listening":                                {},
		"Hey Locket, stop listening.":                           {},
		"locket stop listening":                                 {},
		"Okay, Lockett. Please stop recording, thanks!":         {},
		"Hey lock it, don't listen now":                         {},
		"Locket, off the record":                                {},
		"Locket, stop listening to us, please.":                 {},
		"Locket, stop listening. What I tell you is a secret":   {},
		"Locket, stop listening for ten minutes":                {For: 10 * time.Minute},
		"Locket, stop listening for 45 minutes, please.":        {For: 45 * time.Minute},
		"Hey Locket, go off the record for half an hour":        {For: 30 * time.Minute},
		"Locket, stop listening for the next two hours":         {For: 2 * time.Hour},
		"Locket, stop listening for a while":                    {}, // no time is understood, so there is no end
		"Locket, stop listening until the meeting is over":      {},
		"Locket, stop listening for 99999999999999999999 hours": {},
		"Locket，别听了":                                            {}, "Locket，別聽了。": {}, "嘿 Locket，先别录音": {}, "Locket，停止录音": {},
		"Locket，停十分钟": {For: 10 * time.Minute}, "Locket，别听十分钟": {For: 10 * time.Minute}, "Locket，二十五分钟内别听了！": {For: 25 * time.Minute},
		"Locket，暂停半小时": {For: 30 * time.Minute}, "Locket，停一个半小时": {For: 90 * time.Minute}, "Locket，停两个小时": {For: 2 * time.Hour},
		"Locket, listen again": {Listen: true}, "Hey Locket, you can listen again.": {Listen: true}, "Locket, back on the record": {Listen: true},
		"Locket，可以听了": {Listen: true}, "Locket，继续录音": {Listen: true},
	} {
		if got, ok := ParseOrder(text); !ok || got != want {
			t.Errorf("%s: %+v, %v", text, got, ok)
		}
	}
}

// A line that speaks about an order gives no order.
func TestLinesThatAreNoOrder(t *testing.T) {
	for _, text := range []string{
		"", "Locket", "Hey Locket.", "stop listening", "别听了",
		"I told Locket to stop listening",
		"I said: Locket, stop listening",
		"She whispered, Locket, stop listening",
		"Locket, stop listening?",
		"Locket, when did I tell you to stop listening?",
		"Locket stops listening when I press it",
		"Locket, stop",
		"Locket, stop the music",
		"Locket, pause",
		"Locket, stop listening is what I would say",
		"Locket, stop listening to that man and help me",
		"Locket, did you stop recording",
		"Locket, what does off the record mean?",
		"The locket, stop listening to it",
		"He locked it. Stop listening",
		"Don't listen, Locket is only a necklace",
		"Hey Lucy, stop listening",
		"Lockets stop listening",
		"Locket, listen to this",
		"Locket, I like to listen again and again",
		"我让Locket别听了", "Locket，别听他的", "Locket，停车十分钟", "Locket，停在门口", "Locket，你可以听见吗？", "Locket，我昨天别听了吗",
	} {
		if got, ok := ParseOrder(text); ok {
			t.Errorf("%s: %+v", text, got)
		}
	}
}
