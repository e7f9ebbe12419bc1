package abi

// Keys of a Candidate's map.
const (
	candType = iota + 1
	candText
	candLang
	candKind
	candSlot
	candNegates
	candConfidence
	candSensitivity
	candTrueFrom
	candTrueTo
	candExpires
	candSpans
	candEntities
	candTags
	candEventType
	candDetails
	candActor
	candPlace
	candStarted
	candEnded
	candSubject
	candPredicate
	candObject
	candEntryType
	candSteps
	candTitle
	candMediaType
	candLabel
	candSecret
	candBlock
)

const (
	slotSubject = iota + 1
	slotAttribute
	slotValue
	slotMany
)

const (
	entityName = iota + 1
	entityKind
)

func appendCandidate(w *encoder, c *Candidate) {
	m := w.open()
	w.str(candType, c.Type)
	w.str(candText, c.Text)
	w.str(candLang, c.Lang)
	w.str(candKind, c.Kind)
	if s := c.Slot; s != nil {
		w.key(candSlot)
		m := w.open()
		w.str(slotSubject, s.Subject)
		w.str(slotAttribute, s.Attribute)
		w.str(slotValue, s.Value)
		w.bool(slotMany, s.Many)
		w.close(m)
	}
	w.bool(candNegates, c.Negates)
	w.float(candConfidence, c.Confidence)
	w.str(candSensitivity, c.Sensitivity)
	w.int(candTrueFrom, c.TrueFrom)
	w.int(candTrueTo, c.TrueTo)
	w.int(candExpires, c.Expires)
	if w.list(candSpans, len(c.Spans)) {
		for _, s := range c.Spans {
			w.spanOnly(s)
		}
	}
	if w.list(candEntities, len(c.Entities)) {
		for i := range c.Entities {
			m := w.open()
			w.str(entityName, c.Entities[i].Name)
			w.str(entityKind, c.Entities[i].Kind)
			w.close(m)
		}
	}
	w.strs(candTags, c.Tags)
	w.str(candEventType, c.EventType)
	w.str(candDetails, c.Details)
	w.str(candActor, c.Actor)
	w.str(candPlace, c.Place)
	w.int(candStarted, c.Started)
	w.int(candEnded, c.Ended)
	w.str(candSubject, c.Subject)
	w.str(candPredicate, c.Predicate)
	w.str(candObject, c.Object)
	w.str(candEntryType, c.EntryType)
	w.strs(candSteps, c.Steps)
	w.str(candTitle, c.Title)
	w.str(candMediaType, c.MediaType)
	w.str(candLabel, c.Label)
	w.str(candSecret, c.Secret)
	w.str(candBlock, c.Block)
	w.close(m)
}

func decodeCandidate(d *decoder, c *Candidate) {
	var seen uint64
	for n := d.mapHead(); n > 0 && d.err == nil; n-- {
		switch d.key(&seen) {
		case candType:
			c.Type = d.name("type")
		case candText:
			c.Text = d.str("text", MaxText)
		case candLang:
			c.Lang = d.name("lang")
		case candKind:
			c.Kind = d.name("kind")
		case candSlot:
			d.push("slot")
			c.Slot = new(Slot)
			decodeSlot(d, c.Slot)
			d.pop()
		case candNegates:
			c.Negates = d.flag("negates")
		case candConfidence:
			c.Confidence = d.real("confidence")
		case candSensitivity:
			c.Sensitivity = d.name("sensitivity")
		case candTrueFrom:
			c.TrueFrom = d.number("true_from")
		case candTrueTo:
			c.TrueTo = d.number("true_to")
		case candExpires:
			c.Expires = d.number("expires")
		case candSpans:
			c.Spans = elements(d, "spans", c.Spans, MaxSpans, decodeSpan)
		case candEntities:
			c.Entities = elements(d, "entities", c.Entities, MaxEntities, decodeEntity)
		case candTags:
			c.Tags = d.words("tags", c.Tags, MaxTags, MaxName)
		case candEventType:
			c.EventType = d.name("event_type")
		case candDetails:
			c.Details = d.str("details", MaxText)
		case candActor:
			c.Actor = d.name("actor")
		case candPlace:
			c.Place = d.name("place")
		case candStarted:
			c.Started = d.number("started")
		case candEnded:
			c.Ended = d.number("ended")
		case candSubject:
			c.Subject = d.name("subject")
		case candPredicate:
			c.Predicate = d.name("predicate")
		case candObject:
			c.Object = d.str("object", MaxText)
		case candEntryType:
			c.EntryType = d.name("entry_type")
		case candSteps:
			c.Steps = d.words("steps", c.Steps, MaxSteps, MaxText)
		case candTitle:
			c.Title = d.name("title")
		case candMediaType:
			c.MediaType = d.name("media_type")
		case candLabel:
			c.Label = d.name("label")
		case candSecret:
			c.Secret = d.str("secret", MaxText)
		case candBlock:
			c.Block = d.name("block")
		default:
			d.fail(CodeUnknown)
		}
	}
}

func decodeSlot(d *decoder, s *Slot) {
	var seen uint64
	for n := d.mapHead(); n > 0 && d.err == nil; n-- {
		switch d.key(&seen) {
		case slotSubject:
			s.Subject = d.name("subject")
		case slotAttribute:
			s.Attribute = d.name("attribute")
		case slotValue:
			s.Value = d.str("value", MaxText)
		case slotMany:
			s.Many = d.flag("many")
		default:
			d.fail(CodeUnknown)
		}
	}
}

func decodeEntity(d *decoder, e *Entity) {
	var seen uint64
	for n := d.mapHead(); n > 0 && d.err == nil; n-- {
		switch d.key(&seen) {
		case entityName:
			e.Name = d.name("name")
		case entityKind:
			e.Kind = d.name("kind")
		default:
			d.fail(CodeUnknown)
		}
	}
}
