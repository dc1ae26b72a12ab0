package limits

// Names, descriptions and attributes that people give to keys, mappings and other settings of an organization. All lengths are in
// characters, as the contract counts them.
const (
	NameLength        = 200
	DescriptionLength = 2000
	EmailLength       = 320
	// MappingKeyLength is for both keys of an attribute mapping.
	MappingKeyLength = 200
	// KeyAttributes is how many attributes an ingest key adds to what it sends in.
	KeyAttributes           = 50
	KeyAttributeKeyLength   = 255
	KeyAttributeValueLength = 4096
)

func settings() []Limit {
	return []Limit{
		characters("NameLength", NameLength, "A name has at most %s."),
		characters("DescriptionLength", DescriptionLength, "A description has at most %s."),
		characters("EmailLength", EmailLength, "An email address has at most %s."),
		characters("MappingKeyLength", MappingKeyLength, "The source and target keys of an attribute mapping have at most %s."),
		count("KeyAttributes", KeyAttributes, "An ingest key adds at most %s attributes to the telemetry that is sent with it."),
		characters("KeyAttributeKeyLength", KeyAttributeKeyLength, "The key of an attribute that an ingest key adds has at most %s."),
		characters("KeyAttributeValueLength", KeyAttributeValueLength, "The value of an attribute that an ingest key adds has at most %s."),
	}
}
