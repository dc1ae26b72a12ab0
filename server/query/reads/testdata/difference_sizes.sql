SELECT
    countIf(Side = 1) AS Selected,
    countIf(Side = 2) AS Other,
    toFloat64(sumIf(Weight, Side = 1)) AS SelectedEstimated,
    toFloat64(sumIf(Weight, Side = 2)) AS OtherEstimated
FROM
(
    SELECT
        multiIf((Timestamp >= fromUnixTimestamp64Nano({selected_start:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({selected_end:Int64}, 'UTC')
        AND HasError), 1, (Timestamp >= fromUnixTimestamp64Nano({other_start:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({other_end:Int64}, 'UTC')), 2, 0) AS Side,
        SampleRate AS Weight
    FROM spans
    WHERE OrgId = {org:String}
        AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
)
