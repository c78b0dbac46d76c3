"""The page of what runs cost: money and tokens by what they went to, ceilings, and what else it could have cost."""
