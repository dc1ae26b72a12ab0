package limits

// Names, descriptions and attributes that people give to keys, mappings and other settings of an organization. All lengths are in
// characters, as the contract counts them.
const (
	// NameLength is for names, and for filters by a name or an id of a resource.
	NameLength = 200
	SlugLength = 48
	// AvatarURL is the longest URL of the picture of a person that is kept, in bytes.
	AvatarURL         = 2048
	DescriptionLength = 2000
	EmailLength       = 320
	// InvestigationTitle and InvestigationConclusion are for the texts of an investigation, FindingRequest is for the request of a finding as
	// JSON. InvestigationFindings is how many findings an investigation has.
	InvestigationTitle      = 200
	InvestigationConclusion = 20_000
	InvestigationFindings   = 200
	FindingRequest          = 8 << 10
	// MarkerTitleLength is for the title of a marker.
	MarkerTitleLength = 200
	// SavedViewName and SavedViewState are for a saved view. UserViews is how many a user owns in an organization, SavedViews is how many
	// an organization has.
	SavedViewName  = 80
	SavedViewState = 8192
	UserViews      = 200
	SavedViews     = 5000
	// MappingKeyLength is for both keys of an attribute mapping.
	MappingKeyLength = 200
	// KeyAttributes is the number of attributes that an ingest key adds to its telemetry.
	KeyAttributes           = 50
	KeyAttributeKeyLength   = 255
	KeyAttributeValueLength = 4096
	// KeyRate is the largest rate limit of an ingest key, in requests a second.
	KeyRate = 1_000_000
	// SlowSpan is the longest duration from which a sampling policy can keep all spans.
	SlowSpan = 7 * Day
	// ClientName is the name of a program that asks for an API key or for access by OAuth.
	ClientName      = 100
	ClientAddresses = 20
	// ClientAddress is for each address of a client, which is ASCII.
	ClientAddress   = 2048
	FeedbackReason  = 4000
	FeedbackDetails = 10_000
)

func settings() []Limit {
	return []Limit{
		characters("NameLength", NameLength, "A name, or a filter by a name or an id of a resource, has at most %s."),
		size("AvatarURL", AvatarURL, "The URL of the picture of a person is kept if it has at most %s."),
		characters("SlugLength", SlugLength, "The slug of an organization has at most %s."),
		characters("DescriptionLength", DescriptionLength, "A description has at most %s."),
		characters("EmailLength", EmailLength, "An email address has at most %s."),
		characters("InvestigationTitle", InvestigationTitle, "The title of an investigation has at most %s."),
		characters("InvestigationConclusion", InvestigationConclusion, "The conclusion of an investigation has at most %s."),
		count("InvestigationFindings", InvestigationFindings, "An investigation has at most %s findings."),
		size("FindingRequest", FindingRequest, "The request of a finding has at most %s as JSON."),
		characters("MarkerTitleLength", MarkerTitleLength, "The title of a marker has at most %s."),
		characters("SavedViewName", SavedViewName, "The name of a saved view has at most %s."),
		characters("SavedViewState", SavedViewState, "The state of a saved view has at most %s."),
		count("UserViews", UserViews, "A user owns at most %s saved views in an organization."),
		count("SavedViews", SavedViews, "An organization has at most %s saved views."),
		characters("MappingKeyLength", MappingKeyLength, "The source and target keys of an attribute mapping have at most %s."),
		count("KeyAttributes", KeyAttributes, "An ingest key adds at most %s attributes to the telemetry that is sent with it."),
		characters("KeyAttributeKeyLength", KeyAttributeKeyLength, "The key of an attribute that an ingest key adds has at most %s."),
		characters("KeyAttributeValueLength", KeyAttributeValueLength, "The value of an attribute that an ingest key adds has at most %s."),
		count("KeyRate", KeyRate, "The rate limit of an ingest key is at most %s requests a second."),
		lasts("SlowSpan", SlowSpan, "A sampling policy keeps all spans from a duration of at most %s."),
		characters("ClientName", ClientName, "The name of a command line that asks for a key, or of an OAuth client, has at most %s."),
		count("ClientAddresses", ClientAddresses, "An OAuth client has at most %s redirect addresses."),
		characters("ClientAddress", ClientAddress, "A redirect address, page or metadata address of an OAuth client has at most %s."),
		characters("FeedbackReason", FeedbackReason, "The reason in an agent's feedback has at most %s."),
		characters("FeedbackDetails", FeedbackDetails, "The details in an agent's feedback have at most %s."),
	}
}
