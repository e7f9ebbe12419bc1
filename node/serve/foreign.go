package serve

import "net/http"

// MaxForeign is the maximum size of another system's file, in bytes.
const MaxForeign = 64 << 20

// ForeignQuery says what another system's file or folder is.
type ForeignQuery struct {
	From   string `query:"from" doc:"the system, with a name that locket import --from takes; absent: detected from the beginning of the file; required for a folder"`
	Name   string `query:"name" doc:"name of the file"`
	Folder string `query:"folder" doc:"instead of a body: the absolute path of a folder on the node's machine"`
	Me     string `query:"me" doc:"the wearer's name in the chat, if it is not the one in the settings"`
	Dates  string `query:"dates" enum:"dmy,mdy,ymd" doc:"order of day, month and year in a chat's dates; absent: detected"`
}

// Foreign is what was read: texts, each in the form that [Writer.Add] takes, with a key so
// that it is added only once.
type Foreign struct {
	From    string           `json:"from"`
	Adds    []AddRequest     `json:"adds"`
	Shown   []ForeignShown   `json:"shown"` // how to show each of adds to a person, in their order
	Skipped []ForeignSkipped `json:"skipped"`
	Ends    []AddRequest     `json:"ends,omitempty"` // to be sent after adds: each ends what an earlier import added of it
}

// ForeignShown is the part of a text that a person may be shown. The text of a secret must
// never be printed.
type ForeignShown struct {
	Text   string `json:"text"`             // for a secret: what it is for
	Secret bool   `json:"secret,omitempty"` // it goes to the vault
}

// ForeignSkipped is something that was not read, and why.
type ForeignSkipped struct {
	Where  string `json:"where"`
	Reason string `json:"reason"`
}

var readForeign = withFileBody(rawRoute[Exchange, ForeignQuery, Foreign](RightOwner, spec{
	method: "POST", path: "/v1/foreign", id: "readForeign", body: MaxForeign,
	summary: "Parse another system's file or folder, without adding anything",
	about:   "The body is the file. To add the texts, send them to POST /v1/memories/batch; texts that were added before are not added again.",
	gives:   "The texts in the file or folder",
}, []Format{jsonOf[Foreign]("application/json")}, func(w http.ResponseWriter, r *http.Request, s Exchange, q ForeignQuery) error {
	v, err := s.Foreign(r.Context(), q, r.Body)
	if err != nil {
		return err
	}
	v.Adds, v.Shown, v.Skipped = NonNil(v.Adds), NonNil(v.Shown), NonNil(v.Skipped)
	writeJSON(w, http.StatusOK, "application/json", v)
	return nil
}))

// withFileBody makes a route whose body is a file.
func withFileBody[S, I, A any](rt route[S, I, A]) route[S, I, A] {
	rt.untyped.core.bodies = []Format{schema("application/octet-stream", "type", "string", "format", "binary")}
	return rt
}
