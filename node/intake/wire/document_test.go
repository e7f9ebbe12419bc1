package wire

import (
	"encoding/hex"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
)

// The examples of docs/mqtt.md can be decoded, each JSON and its CBOR to the
// same message, and the CBOR is what we would send.
func TestDocument(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/mqtt.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?s)```json (\\w+)\n(.*?)\n```\n\n```cbor (\\w+)\n(.*?)\n```").FindAllStringSubmatch(string(doc), -1)
	kinds := map[string]bool{}
	for _, e := range examples {
		kind, text := e[1], e[2]
		kinds[kind] = true
		raw, err := hex.DecodeString(strings.ReplaceAll(e[4], "\n", ""))
		if err != nil || e[3] != kind {
			t.Fatalf("%s: %v", text, err)
		}
		var fromJSON, fromCBOR any
		var err1, err2, err3 error
		var again []byte
		switch kind {
		case LeafAck:
			fromJSON, err1 = DecodeAck([]byte(text))
			fromCBOR, err2 = DecodeAck(raw)
			again, err3 = EncodeAck(fromCBOR.(*Ack), CBOR)
		case LeafCmd:
			fromJSON, err1 = DecodeCmd([]byte(text))
			fromCBOR, err2 = DecodeCmd(raw)
			again, err3 = EncodeCmd(fromCBOR.(*Cmd), CBOR)
		default:
			var m Message
			m, _, err1 = Decode(memory.Kind(kind), []byte(text))
			fromJSON = m
			if m, _, err2 = Decode(memory.Kind(kind), raw); err2 == nil {
				again, err3 = Encode(m, CBOR)
			}
			fromCBOR = m
		}
		if err1 != nil || err2 != nil || err3 != nil || !reflect.DeepEqual(fromJSON, fromCBOR) || string(again) != string(raw) {
			t.Errorf("%s: %v, %v, %v\n%+v\n%+v", text, err1, err2, err3, fromJSON, fromCBOR)
		}
	}
	for _, k := range Kinds {
		if !kinds[string(k)] {
			t.Errorf("no example of %s", k)
		}
		if !strings.Contains(string(doc), "\npattern write locket/v1/%u/"+string(k)+"\n") {
			t.Errorf("the ACL leaves out %s", k)
		}
	}
	if !kinds[LeafAck] || !kinds[LeafCmd] {
		t.Error("no example of ack or cmd")
	}
}
